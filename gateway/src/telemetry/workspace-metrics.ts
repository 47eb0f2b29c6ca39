import { type LedgerEntry, nanoToUsd, type Usage, usageClasses } from "#core/index.ts";
import type { RequestEnd, RequestOutcome } from "#ports/index.ts";
import { addUsage, className } from "./attempt-metrics.ts";
import { Gauge, type Registry } from "./prometheus.ts";
import { Series } from "./series.ts";
import { registerTallies, type Tally } from "./tally.ts";

/** What is counted by workspace, where the operator asks for it. */
export interface WorkspaceLabels {
  /** Workspaces with a label of their own; the rest are counted together as `other`. */
  readonly max: number;
  /** The slug of a workspace's id; null: it is gone. */
  readonly slugOf: (workspaceId: string) => string | null;
}

/** The used share of a workspace's budget: 1 is all of it. */
export interface BudgetShare {
  readonly workspace: string;
  readonly share: number;
}

export interface WorkspaceMetrics {
  attemptEnd(entry: LedgerEntry): void;
  requestEnd(end: Pick<RequestEnd, "outcome" | "principal">): void;
}

/** Everything that is counted for one workspace; a call looks up this and nothing else. */
interface OfWorkspace {
  readonly requests: Readonly<Record<RequestOutcome, Tally>>;
  readonly tokens: Series<keyof Usage, Tally>;
  readonly cost: Tally;
}

export function registerWorkspaceMetrics(registry: Registry, { max, slugOf }: WorkspaceLabels): WorkspaceMetrics {
  const requests = registerTallies(registry, {
    name: "sluice_workspace_requests_total",
    help: "Answered requests by workspace and outcome.",
    labelNames: ["workspace", "outcome"],
  });
  const tokens = registerTallies(registry, {
    name: "sluice_workspace_tokens_total",
    help: "Tokens by workspace and class; classes do not overlap, but reasoning is also inside output.",
    labelNames: ["workspace", "class"],
  });
  const cost = registerTallies(registry, {
    name: "sluice_workspace_cost_usd_total",
    help: "Cost by workspace, in US dollars.",
    labelNames: ["workspace"],
    shown: nanoToUsd,
  });
  const all = new Series(max, (id: string): OfWorkspace => {
    const workspace = id === "other" ? id : (slugOf(id) ?? id);
    const ended = (outcome: RequestOutcome) => requests({ workspace, outcome });
    return {
      requests: {
        succeeded: ended("succeeded"),
        refused: ended("refused"),
        failed: ended("failed"),
        cancelled: ended("cancelled"),
      },
      tokens: new Series(usageClasses.length, (name) => tokens({ workspace, class: className(name) })),
      cost: cost({ workspace }),
    };
  });
  return {
    attemptEnd({ workspaceId, usage, costNanoUsd }) {
      if (workspaceId === "") return;
      const of = all.of(workspaceId);
      of.cost.count += costNanoUsd;
      addUsage(of.tokens, usage);
    },
    requestEnd({ principal, outcome }) {
      if (principal != null) all.of(principal.workspace.id).requests[outcome].count++;
    },
  };
}

/** `read` is asked at each scrape; what cannot be read is left out of it. */
export function registerBudgetShares(registry: Registry, read: () => Promise<readonly BudgetShare[]>): void {
  new Gauge({
    name: "sluice_workspace_budget_used_ratio",
    help: "Used share of a workspace's budget in its period, with what is held for calls under way; 1 is all of it.",
    labelNames: ["workspace"],
    registers: [registry],
    // Workers see the same budget.
    aggregator: "max",
    async collect() {
      const shares = await read().catch(() => []);
      this.reset();
      for (const { workspace, share } of shares) this.labels(workspace).set(share);
    },
  });
}
