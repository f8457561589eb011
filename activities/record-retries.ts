/** When an answer that the database did not take is offered again; after the last one the inquiry has to find it out. */
export const RECORD_RETRY_MS = [50, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 30_000];
