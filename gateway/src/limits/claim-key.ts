import type { BudgetPeriod, ScopeKind } from "#core/index.ts";

/**
 * Names of counters. Admission and the seeding after a restart must agree on them, and they hold ids only: renaming a
 * key or a workspace does not empty its limits. A budget's period is part of its name, since another period counts anew.
 */
export const claimKey = {
  requests: (kind: ScopeKind, id: string): string => `rpm:${kind}:${id}`,
  tokens: (kind: ScopeKind, id: string): string => `tpm:${kind}:${id}`,
  concurrency: (kind: ScopeKind, id: string): string => `concurrency:${kind}:${id}`,
  budget: (kind: ScopeKind, id: string, period: BudgetPeriod): string => `budget:${period}:${kind}:${id}`,
} as const;
