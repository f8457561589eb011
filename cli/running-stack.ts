import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CodedError } from '../domain/errors.ts';
import { defaultDataFolder, findRunningStack } from '../embedded/stack.ts';

export interface ApiAccess {
  readonly address: string;
  readonly apiKey: string;
}

/**
 * Which API the commands talk to: PAIDONCE_API_URL with PAIDONCE_API_KEY, or else the stack that runs on this machine, with
 * its development key.
 * @throws CodedError `program_missing` when there is neither
 */
export function findApi(variables: NodeJS.ProcessEnv, dataFolder: string = defaultDataFolder()): ApiAccess {
  const { PAIDONCE_API_URL: address, PAIDONCE_API_KEY: apiKey } = variables;
  if (address !== undefined && apiKey !== undefined) return { address, apiKey };
  if (address !== undefined)
    throw new CodedError('configuration_invalid', 'Set PAIDONCE_API_KEY beside PAIDONCE_API_URL.');
  return {
    address: addressOf('api', dataFolder),
    apiKey: readFileSync(join(dataFolder, 'development-key'), 'utf8').trim(),
  };
}

/** Where the simulator of the running stack listens, unless SIMULATOR_URL says otherwise. */
export function findSimulator(variables: NodeJS.ProcessEnv, dataFolder: string = defaultDataFolder()): string {
  return variables.SIMULATOR_URL ?? addressOf('simulator', dataFolder);
}

function addressOf(part: string, dataFolder: string): string {
  const address = findRunningStack(dataFolder)?.[part];
  if (address === undefined) {
    const hint = 'Start one with "npm start", or set PAIDONCE_API_URL and PAIDONCE_API_KEY.';
    throw new CodedError('program_missing', `No paidonce stack is running on ${dataFolder}. ${hint}`);
  }
  return address;
}
