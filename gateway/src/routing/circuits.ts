import { bounds, type Deployment } from "#core/index.ts";
import type { Clock, HealthBoard, Observer } from "#ports/index.ts";
import { Circuit, type DeploymentState } from "./circuit.ts";

/** Checks a deployment's account without cost. Never rejects. null: its kind has no such check. */
export type CheckDeployment = (deployment: Deployment, signal: AbortSignal) => Promise<boolean> | null;

export interface CircuitsOptions {
  readonly board: HealthBoard;
  readonly observer: Observer;
  readonly clock: Clock;
  /** Left out: a call probes a deployment that was down. */
  readonly check?: CheckDeployment;
}

const checkMs = 10_000;

/** The circuits of deployments that were called since the start. */
export class Circuits {
  readonly #options: CircuitsOptions;
  readonly #circuits = new Map<string, Circuit>();
  #unsound = 0;

  constructor(options: CircuitsOptions) {
    this.#options = options;
  }

  /** True: every deployment is ready. False: each has to be asked. */
  get allReady(): boolean {
    return this.#unsound === 0 && this.#options.board.quiet;
  }

  of(deploymentId: string): Circuit {
    const known = this.#circuits.get(deploymentId);
    if (known !== undefined) return known;
    if (this.#circuits.size >= bounds.circuitsMax) this.#forgetResting();
    const circuit = new Circuit(deploymentId, { ...this.#options, soundness: this.#count });
    this.#circuits.set(deploymentId, circuit);
    return circuit;
  }

  states(nowMs: number): readonly DeploymentState[] {
    return [...this.#circuits.values()].map((circuit) => circuit.state(nowMs));
  }

  /** Begins to check a deployment. False: a call has to probe it. */
  check(circuit: Circuit, deployment: Deployment): boolean {
    const { clock, check } = this.#options;
    const late = new AbortController();
    const asked = check?.(deployment, late.signal) ?? null;
    if (asked === null) {
      circuit.skipCheck();
      return false;
    }
    const end = circuit.beginCheck(clock.monotonic());
    const stop = clock.after(checkMs, () => late.abort());
    void asked.then((answered) => {
      stop();
      end(answered, clock.monotonic());
    });
    return true;
  }

  readonly #count = (sound: boolean): void => {
    this.#unsound += sound ? -1 : 1;
  };

  #forgetResting(): void {
    for (const [deploymentId, circuit] of this.#circuits) {
      if (circuit.atRest) this.#circuits.delete(deploymentId);
    }
  }
}
