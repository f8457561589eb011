export function withLock<T>(path: string, work: () => Promise<T>): Promise<T>;
