import type { AlertCondition } from "@sluice/contract/console";
import type { AlertFacts, AlertKind, AlertSeverity } from "@sluice/contract/words";

/** A subject for which the condition of a rule holds. */
export interface Finding {
  readonly kind: AlertKind;
  /** Identifies what the alert is about; a rule has one open alert per subject. */
  readonly subject: string;
  readonly workspaceId: string | null;
  /** Only this user, and admins, may see it. */
  readonly personId: string | null;
  /** Number of thresholds reached. A higher severity has a higher level. */
  readonly level: number;
  readonly severity: AlertSeverity;
  readonly facts: AlertFacts;
}

export interface Findings {
  readonly found: readonly Finding[];
  /** Subjects that cannot be decided now: their alerts stay as they are. */
  readonly undecided: Pick<ReadonlySet<string>, "has">;
}

/** A rule's condition, for one workspace or, with null, for all. */
export interface Watched<Kind extends AlertKind> {
  readonly workspaceId: string | null;
  readonly condition: Extract<AlertCondition, { kind: Kind }>;
}

/** The most findings of one rule. */
export const findingsMax = 500;

export function decided(found: readonly Finding[]): Findings {
  return { found: found.slice(0, findingsMax), undecided: new Set() };
}
