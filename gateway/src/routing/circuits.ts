import { bounds } from "#core/index.ts";
import type { HealthBoard, Observer } from "#ports/index.ts";
import { Circuit, type DeploymentState } from "./circuit.ts";

export interface CircuitsOptions {
  readonly board: HealthBoard;
  readonly observer: Observer;
}

/** What is known of each deployment that was called since the start. */
export class Circuits {
  readonly #options: CircuitsOptions;
  readonly #circuits = new Map<string, Circuit>();
  /** How many say of themselves that they are not sound. */
  #unsound = 0;

  constructor(options: CircuitsOptions) {
    this.#options = options;
  }

  /** Every deployment is ready, which costs nothing to know; where it is false each has to be asked. */
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

  readonly #count = (sound: boolean): void => {
    this.#unsound += sound ? -1 : 1;
  };

  #forgetResting(): void {
    for (const [deploymentId, circuit] of this.#circuits) {
      if (circuit.atRest) this.#circuits.delete(deploymentId);
    }
  }
}
