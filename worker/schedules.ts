import { type Client, ScheduleAlreadyRunning, type ScheduleOptions, ScheduleOverlapPolicy } from '@temporalio/client';
import { EXPIRY_SCHEDULE_ID, SWEEP_SCHEDULE_ID, TASK_QUEUE } from '../workflows/ids.ts';
import { EXPIRE_UNPAID_ORDERS_WORKFLOW, SWEEP_WORKFLOW } from '../workflows/messages.ts';

const EVERY_MS = 5 * 60_000;

/** What runs by the clock: the schedule's id and the type of the workflow that it starts, every five minutes. */
const SCHEDULES: readonly (readonly [scheduleId: string, workflowType: string])[] = [
  [EXPIRY_SCHEDULE_ID, EXPIRE_UNPAID_ORDERS_WORKFLOW],
  [SWEEP_SCHEDULE_ID, SWEEP_WORKFLOW],
];

/**
 * Makes the schedules exist as this version wants them, whether they were there before or not; several workers may do so at
 * once. Runs never overlap: a run that takes longer than its interval lets the next one pass.
 */
export async function ensureSchedules(client: Client): Promise<void> {
  for (const [scheduleId, workflowType] of SCHEDULES) await ensureSchedule(client, scheduleId, workflowType);
}

async function ensureSchedule(client: Client, scheduleId: string, workflowType: string): Promise<void> {
  const wanted = {
    spec: { intervals: [{ every: EVERY_MS }] },
    action: { type: 'startWorkflow', workflowType, taskQueue: TASK_QUEUE },
    policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: EVERY_MS },
  } satisfies Omit<ScheduleOptions, 'scheduleId'>;
  try {
    await client.schedule.create({ scheduleId, ...wanted });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    await client.schedule
      .getHandle(scheduleId)
      .update(({ state, searchAttributes }) => ({ ...wanted, state, searchAttributes }));
  }
}
