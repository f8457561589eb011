export function installPackages(folder?: string): Promise<void>;
export function arePackagesFresh(folder?: string): boolean;
