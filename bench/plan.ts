/** How much is measured. */
export interface Plan {
  /** Rounds that other programs did not disturb. */
  readonly rounds: number;
  /** Rounds in all: then the bench gives up waiting for a quiet machine. */
  readonly roundsMax: number;
  /** Of each kind with 16 in flight, before the first round: Node goes on compiling for about a thousand purchases, pools and statements fill. */
  readonly warmUp: number;
  /** Of each kind and round with 1 in flight. */
  readonly oneByOne: number;
  /** Of each kind and round with 16 in flight. */
  readonly sideBySide: number;
  readonly waitingAtSlowGateway: number;
  readonly repeatedPays: number;
}

export const FULL_PLAN: Plan = {
  rounds: 10,
  roundsMax: 20,
  warmUp: 500,
  oneByOne: 40,
  sideBySide: 240,
  waitingAtSlowGateway: 200,
  repeatedPays: 300,
};

/** A look in about a minute; its 99th percentiles are of few values. */
export const QUICK_PLAN: Plan = {
  rounds: 2,
  roundsMax: 2,
  warmUp: 100,
  oneByOne: 30,
  sideBySide: 160,
  waitingAtSlowGateway: 200,
  repeatedPays: 100,
};
