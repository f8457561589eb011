import type { StepResult, TourContext, TourStep } from './steps.ts';

/** One step as `--json` prints it. `charges` is what the gateway's ledger says. */
export interface StepReport {
  readonly name: string;
  readonly passed: boolean;
  readonly charges: number;
  readonly detail: string;
}

export interface TourReport {
  readonly steps: readonly StepReport[];
  readonly passed: number;
  readonly failed: number;
}

/** Walks the steps one after the other and judges each by the gateway's own ledger. A step that fails does not end the tour. */
export async function runTour(
  steps: readonly TourStep[],
  context: TourContext,
  onStep: (report: StepReport) => void,
): Promise<TourReport> {
  const reports: StepReport[] = [];
  for (const step of steps) {
    const report = await runStep(step, context);
    reports.push(report);
    onStep(report);
  }
  const passed = reports.filter((report) => report.passed).length;
  return { steps: reports, passed, failed: reports.length - passed };
}

async function runStep(step: TourStep, context: TourContext): Promise<StepReport> {
  let result: StepResult;
  try {
    result = await step.run(context);
  } catch (error) {
    return {
      name: step.name,
      passed: false,
      charges: 0,
      detail: error instanceof Error ? error.message : String(error),
    };
  }
  let charges = 0;
  for (const orderId of result.orderIds) charges += await context.ledger.charges(orderId);
  const passed = charges === result.chargesExpected;
  const wrong = `the ledger says ${charges} charges, expected ${result.chargesExpected}; ${result.detail}`;
  return { name: step.name, passed, charges, detail: passed ? result.detail : wrong };
}
