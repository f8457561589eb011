const MINUTE = 60;
const HOUR = 60 * MINUTE;

/**
 * When an unknown attempt is asked about, in seconds since it became unknown. Dense at first, because most answers are
 * there within seconds; 180 s is the delayed check of the brief. After the last one the order goes to the review pool.
 */
export const INQUIRY_SCHEDULE_SECONDS: readonly number[] = [
  5,
  15,
  MINUTE,
  3 * MINUTE,
  10 * MINUTE,
  30 * MINUTE,
  HOUR,
  3 * HOUR,
  12 * HOUR,
  24 * HOUR,
];

/**
 * How soon a gateway that did not answer the inquiry is tried again. Not by the schedule: its steps grow to hours, and an
 * order must not wait hours after the gateway is back (promise R4: 95 of 100 within a minute).
 */
export const UNAVAILABLE_RETRY_SECONDS = 30;

/**
 * Seconds from now until the next inquiry, or undefined when the schedule is over.
 * @param elapsedSeconds since the attempt became unknown
 * @param gatewayAnswered whether the last inquiry got an answer at all
 */
export function secondsToNextInquiry(
  schedule: readonly number[],
  elapsedSeconds: number,
  gatewayAnswered: boolean,
): number | undefined {
  const next = schedule.find((offset) => offset > elapsedSeconds);
  if (next === undefined) return undefined;
  const wait = next - elapsedSeconds;
  return gatewayAnswered ? wait : Math.min(wait, UNAVAILABLE_RETRY_SECONDS);
}
