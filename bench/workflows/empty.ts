/** A workflow that does nothing: what Temporal costs before anybody asks for anything. */
export async function empty(): Promise<void> {}
