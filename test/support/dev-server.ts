import { TestWorkflowEnvironment } from '@temporalio/testing';
import { findPrograms } from '../../cli/setup.mjs';
import { GATEWAY, NEEDS_REVIEW, ORDER_STATUS } from '../../workflows/search-attributes.ts';
import { quietTemporal } from './workbench.ts';

/** A real Temporal server in real time, for what the time-skipping one cannot do: take work away from a worker that is gone. */
export function startDevServer(): Promise<TestWorkflowEnvironment> {
  quietTemporal();
  const { temporal: path, missing } = findPrograms();
  if (path === null) throw new Error(missing.join(' '));
  return TestWorkflowEnvironment.createLocal({
    server: {
      executable: { type: 'existing-path', path },
      searchAttributes: [ORDER_STATUS, GATEWAY, NEEDS_REVIEW],
      log: { format: 'json', level: 'error' },
    },
  });
}
