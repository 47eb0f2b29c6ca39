import { bounds, type Deployment } from "#core/index.ts";
import type { Clock, Observer } from "#ports/index.ts";
import { Circuit, type DeploymentState } from "./circuit.ts";

/** Checks an account for free. Never rejects. null: the provider type has no check. */
export type CheckDeployment = (deployment: Deployment, signal: AbortSignal) => Promise<boolean> | null;

export interface CircuitsOptions {
  readonly observer: Observer;
  readonly clock: Clock;
  /** Absent: calls probe deployments that were down. */
  readonly check?: CheckDeployment;
}

const checkMs = 10_000;

/** The circuits of deployments with calls since the start. */
export class Circuits {
  readonly #options: CircuitsOptions;
  readonly #circuits = new Map<string, Circuit>();
  #unhealthyCount = 0;
  /** When the last cooldown of all deployments ends, monotonic. */
  #coolingUntilMs = 0;

  constructor(options: CircuitsOptions) {
    this.#options = options;
  }

  /** True: no deployment needs to be checked individually. */
  allReady(nowMs: number): boolean {
    return this.#unhealthyCount === 0 && this.#coolingUntilMs <= nowMs;
  }

  of(deploymentId: string): Circuit {
    const existing = this.#circuits.get(deploymentId);
    if (existing !== undefined) return existing;
    if (this.#circuits.size >= bounds.circuitsMax) this.#forgetResting();
    const { observer } = this.#options;
    const circuit = new Circuit(deploymentId, { observer, onHealthChange: this.#count, onCool: this.#noteCooldown });
    this.#circuits.set(deploymentId, circuit);
    return circuit;
  }

  states(nowMs: number): readonly DeploymentState[] {
    return [...this.#circuits.values()].map((circuit) => circuit.state(nowMs));
  }

  /** Starts a check. False: a call has to probe. */
  check(circuit: Circuit, deployment: Deployment): boolean {
    const { clock, check } = this.#options;
    const late = new AbortController();
    const checking = check?.(deployment, late.signal) ?? null;
    if (checking === null) {
      circuit.skipCheck();
      return false;
    }
    const end = circuit.beginCheck(clock.monotonic());
    const stop = clock.after(checkMs, () => late.abort());
    void checking.then((answered) => {
      stop();
      end(answered, clock.monotonic());
    });
    return true;
  }

  readonly #count = (sound: boolean): void => {
    this.#unhealthyCount += sound ? -1 : 1;
  };

  readonly #noteCooldown = (untilMs: number): void => {
    this.#coolingUntilMs = Math.max(this.#coolingUntilMs, untilMs);
  };

  #forgetResting(): void {
    const nowMs = this.#options.clock.monotonic();
    for (const [deploymentId, circuit] of this.#circuits) {
      if (circuit.isAtRest(nowMs)) this.#circuits.delete(deploymentId);
    }
  }
}
