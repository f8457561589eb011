import { type Client, ScheduleAlreadyRunning, type ScheduleOptions, ScheduleOverlapPolicy } from '@temporalio/client';
import { EXPIRY_SCHEDULE_ID, TASK_QUEUE } from '../workflows/ids.ts';
import { EXPIRE_UNPAID_ORDERS_WORKFLOW } from '../workflows/messages.ts';

const EXPIRY_EVERY_MS = 5 * 60_000;

/**
 * Makes the schedules exist as this version wants them, whether they were there before or not; several workers may do so at
 * once. Runs never overlap: a run that takes longer than its interval lets the next one pass.
 */
export async function ensureSchedules(client: Client): Promise<void> {
  const wanted = {
    spec: { intervals: [{ every: EXPIRY_EVERY_MS }] },
    action: { type: 'startWorkflow', workflowType: EXPIRE_UNPAID_ORDERS_WORKFLOW, taskQueue: TASK_QUEUE },
    policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: EXPIRY_EVERY_MS },
  } satisfies Omit<ScheduleOptions, 'scheduleId'>;
  try {
    await client.schedule.create({ scheduleId: EXPIRY_SCHEDULE_ID, ...wanted });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    await client.schedule
      .getHandle(EXPIRY_SCHEDULE_ID)
      .update(({ state, searchAttributes }) => ({ ...wanted, state, searchAttributes }));
  }
}
