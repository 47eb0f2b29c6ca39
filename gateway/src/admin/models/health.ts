import type { Health } from "@sluice/contract";
import type { ReportStore } from "#ports/index.ts";
import type { DeploymentState } from "#routing/index.ts";
import type { ConsoleDependencies } from "../dependencies.ts";

const hourMs = 3_600_000;

interface Use {
  readonly attempts: number;
  readonly failed: number;
}

/** How deployments and providers are: what the router knows of them, and what the ledger saw in the last hour. */
export class HealthReading {
  readonly #states: ReadonlyMap<string, DeploymentState>;
  /** null: the reports could not say it in time. */
  readonly #uses: readonly (Use & { readonly deployment: string; readonly provider: string })[] | null;

  constructor(states: readonly DeploymentState[], uses: Awaited<ReturnType<ReportStore["deploymentUse"]>> | null) {
    this.#states = new Map(states.map((state) => [state.deploymentId, state]));
    this.#uses = uses;
  }

  ofDeployment(id: string): Health {
    const state = this.#states.get(id);
    const use = this.#uses === null ? null : summed(this.#uses.filter((each) => each.deployment === id));
    return healthOf(state === undefined ? [] : [state], use);
  }

  /** The worst of its deployments; calls of deployments that are gone count too. */
  ofProvider(id: string, deployments: readonly string[]): Health {
    const states = deployments.flatMap((deployment) => this.#states.get(deployment) ?? []);
    const use = this.#uses === null ? null : summed(this.#uses.filter((each) => each.provider === id));
    return healthOf(states, use);
  }
}

/** Reports that are late or broken take figures away, not the list they stand in. */
export async function readHealth({
  router,
  reports,
  clock,
}: Pick<ConsoleDependencies, "router" | "clock"> & {
  readonly reports: Pick<ReportStore, "deploymentUse">;
}): Promise<HealthReading> {
  const uses = await reports.deploymentUse(clock.now() - hourMs).catch(() => null);
  return new HealthReading(router.states(), uses);
}

function healthOf(states: readonly DeploymentState[], use: Use | null): Health {
  const latencies = states.flatMap((state) => state.latencyMs ?? []);
  const coolingMs = Math.max(0, ...states.map((state) => state.coolingMs));
  return {
    state: stateOf(states, coolingMs, use),
    breaker: worst(states),
    cooling_ms: coolingMs,
    in_flight: states.reduce((sum, state) => sum + state.inFlight, 0),
    latency_ms: latencies.length === 0 ? null : latencies.reduce((sum, each) => sum + each, 0) / latencies.length,
    last_hour: use,
  };
}

/** One that is down beside one that is not makes a provider unhealthy; all of them make it down. */
function stateOf(states: readonly DeploymentState[], coolingMs: number, use: Use | null): Health["state"] {
  const open = states.filter((state) => state.breaker === "open").length;
  if (open > 0 && open === states.length) return "down";
  if (open > 0 || coolingMs > 0 || states.some((state) => state.breaker === "half-open")) return "unhealthy";
  const answers = states.some((state) => state.latencyMs !== null) || (use !== null && use.attempts > use.failed);
  if (!answers) return "unknown";
  return use !== null && isDegraded(use) ? "degraded" : "healthy";
}

/** Some failures are chance; that many of that many are not. */
function isDegraded({ attempts, failed }: Use): boolean {
  return failed >= degradedFailuresMin && failed / attempts >= degradedShare;
}

const degradedFailuresMin = 3;
const degradedShare = 0.05;

const breakersWorstFirst = ["open", "half-open", "closed"] as const;

function worst(states: readonly DeploymentState[]): Health["breaker"] {
  return breakersWorstFirst.find((breaker) => states.some((state) => state.breaker === breaker)) ?? null;
}

function summed(uses: readonly Use[]): Use {
  return {
    attempts: uses.reduce((sum, use) => sum + use.attempts, 0),
    failed: uses.reduce((sum, use) => sum + use.failed, 0),
  };
}
