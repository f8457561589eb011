import type { WorkflowHandle } from '@temporalio/client';
import { describe, expect, test } from 'vitest';
import { TASK_QUEUE } from '../../workflows/ids.ts';
import { PURCHASE_WORKFLOW } from '../../workflows/messages.ts';
import { spawnWorker } from '../support/second-worker.ts';
import { useStack, waitUntil } from '../support/stack.ts';

/**
 * Temporal's own ways to run a step twice. Each must end with one charge in the gateway's ledger, because the
 * compare-and-set on the attempt's row holds whatever Temporal does.
 */
const bench = useStack();
const SETTLED = ['paid', 'failed'];
const WITHIN_MS = 60_000;

const workflowOf = (orderId: string): WorkflowHandle => bench.temporal().workflow.getHandle(orderId);

async function pendingActivities(orderId: string): Promise<number> {
  const { raw } = await workflowOf(orderId).describe();
  return raw.pendingActivities?.length ?? 0;
}

describe('Temporal runs a step twice', () => {
  test('activity reset: an inquiry that is reset while it resolves charges nothing again', async () => {
    const order = await bench.shop().createOrder();
    await bench.ledger().fault(order.id, { kind: 'never_arrives' });
    await bench.shop().pay(order, { waitSeconds: 0 });
    await waitUntil('the inquiry is pending', async () => (await pendingActivities(order.id)) > 0);
    const client = bench.temporal();
    for (let reset = 0; reset < 20 && (await pendingActivities(order.id)) > 0; reset += 1) {
      const execution = { workflowId: order.id };
      const { namespace } = client.options;
      await client.workflowService.resetActivity({ namespace, execution, type: 'inquire' }).catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, 400));
    }
    expect((await bench.shop().waitFor(order.id, SETTLED, WITHIN_MS)).status).toBe('paid');
    expect(await bench.ledger().charges(order.id)).toBe(1);
  });

  test('C122: workflow reset to before the charge, while the first one is on its way', async () => {
    const order = await bench.shop().createOrder();
    await bench.ledger().fault(order.id, { kind: 'slow', seconds: 6 });
    await bench.shop().pay(order, { waitSeconds: 0 });
    const firstTask = await firstCompletedTask(order.id);
    const client = bench.temporal();
    const { firstExecutionRunId } = await runsOf(order.id);
    await client.workflowService.resetWorkflowExecution({
      namespace: client.options.namespace,
      workflowExecution: { workflowId: order.id, runId: firstExecutionRunId },
      reason: 'test',
      workflowTaskFinishEventId: firstTask,
      requestId: `reset-${order.id}`,
    });
    expect((await bench.shop().waitFor(order.id, SETTLED, WITHIN_MS)).status).toBe('paid');
    expect((await runsOf(order.id)).runId).not.toBe(firstExecutionRunId);
    expect(await bench.ledger().charges(order.id)).toBe(1);
    expect(await bench.requests(order.id)).toBe(1);
  });

  test('C16: a call that outlives its activity answers after the inquiry has settled the order', async () => {
    const order = await bench.shop().createOrder();
    await bench.ledger().fault(order.id, { kind: 'slow', seconds: 7 });
    await bench.shop().pay(order, { waitSeconds: 0 });
    expect((await bench.shop().waitFor(order.id, SETTLED, WITHIN_MS)).status).toBe('paid');
    await waitUntil('the slow answer has come as well', async () => Date.now() > Date.parse(order.created_at) + 8_000);
    expect((await bench.shop().read(order.id)).status).toBe('paid');
    expect(await bench.ledger().charges(order.id)).toBe(1);
    expect(await bench.requests(order.id)).toBe(1);
  });

  test('C123: a worker that stalls past its workflow-task time-out wakes up as a zombie', async () => {
    const order = await bench.shop().createOrder();
    const second = await spawnWorker(bench.stack());
    const stalled = bench.stack().processIds().application;
    if (stalled === undefined) throw new Error('The application has no process');
    try {
      await bench.ledger().fault(order.id, { kind: 'slow', seconds: 2 });
      void bench
        .shop()
        .pay(order, { waitSeconds: 0 })
        .catch(() => undefined);
      await bench.ledger().waitForCharge(order.id);
      process.kill(stalled, 'SIGSTOP');
      await waitUntil(
        'the other worker has ended the order',
        async () => (await workflowOf(order.id).describe()).status.name === 'COMPLETED',
      );
    } finally {
      process.kill(stalled, 'SIGCONT');
      await second.stop();
    }
    expect((await bench.shop().waitFor(order.id, SETTLED, WITHIN_MS)).status).toBe('paid');
    expect(await bench.ledger().charges(order.id)).toBe(1);
    expect(await bench.requests(order.id)).toBe(1);
  });

  test('C116: a second start after the closed workflow was deleted', async () => {
    const order = await bench.shop().createOrder();
    expect((await bench.shop().pay(order)).body.status).toBe('paid');
    const client = bench.temporal();
    await client.workflowService.deleteWorkflowExecution({
      namespace: client.options.namespace,
      workflowExecution: { workflowId: order.id },
    });
    await waitUntil('the workflow is gone', () =>
      workflowOf(order.id)
        .describe()
        .then(
          () => false,
          () => true,
        ),
    );
    const again = await client.workflow.start(PURCHASE_WORKFLOW, {
      workflowId: order.id,
      taskQueue: TASK_QUEUE,
      args: [
        {
          orderId: order.id,
          gateway: 'simulator',
          expiresAt: order.expires_at,
          attempt: { attemptNumber: 1, paymentMethod: 'tok_ok', returnUrl: null },
          settings: { handoverAfterMs: 3_000, inquiryScheduleSeconds: [1] },
        },
      ],
    });
    expect(await again.result()).toMatchObject({ status: 'paid' });
    expect(await bench.ledger().charges(order.id)).toBe(1);
    expect(await bench.requests(order.id)).toBe(1);
  });
});

async function firstCompletedTask(orderId: string) {
  const completedTask = async () => {
    const { events } = await workflowOf(orderId).fetchHistory();
    return events?.find((event) => event.workflowTaskCompletedEventAttributes)?.eventId ?? undefined;
  };
  await waitUntil('the first workflow task is complete', async () => (await completedTask()) !== undefined);
  const eventId = await completedTask();
  if (eventId === undefined) throw new Error('There is no first workflow task');
  return eventId;
}

async function runsOf(orderId: string): Promise<{ runId: string; firstExecutionRunId: string }> {
  const { runId, raw } = await workflowOf(orderId).describe();
  return { runId, firstExecutionRunId: raw.workflowExecutionInfo?.firstRunId ?? runId };
}
