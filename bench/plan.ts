/** How much is measured. */
export interface Plan {
  readonly rounds: number;
  /** Of each kind before the first round: programs compile themselves, pools and prepared statements fill. */
  readonly warmUp: number;
  /** Of each kind and round with 1 in flight. */
  readonly oneByOne: number;
  /** Of each kind and round with 16 in flight. */
  readonly sideBySide: number;
  readonly waitingAtSlowGateway: number;
  readonly repeatedPays: number;
}

export const FULL_PLAN: Plan = {
  rounds: 5,
  warmUp: 150,
  oneByOne: 80,
  sideBySide: 400,
  waitingAtSlowGateway: 200,
  repeatedPays: 300,
};

/** A look in about a minute; its 99th percentiles are of few values. */
export const QUICK_PLAN: Plan = {
  rounds: 1,
  warmUp: 60,
  oneByOne: 50,
  sideBySide: 200,
  waitingAtSlowGateway: 200,
  repeatedPays: 100,
};
