import { type ActivityFacts, running } from './virtual.ts';

/** What activities find in the place of @temporalio/activity. */
export { ApplicationFailure } from '@temporalio/common';

export function activityInfo(): ActivityFacts {
  const what = running.getStore();
  if (what?.kind !== 'activity') throw new Error('This is asked outside of an activity');
  return what.info;
}
