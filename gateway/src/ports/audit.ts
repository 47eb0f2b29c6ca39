import type { AuditAction, AuditObject } from "@sluice/contract/words";

export interface AuditSource {
  readonly actor: string;
  readonly ip: string | null;
}

/** A row of the audit log. */
export interface AuditEvent {
  readonly action: AuditAction;
  readonly object: AuditObject;
  /** null: the installation. */
  readonly workspaceId: string | null;
  readonly after?: unknown;
}

/** An object that `apply` changed. `before` and `after` contain no secrets. */
export interface ConfigChange {
  readonly action: AuditAction;
  readonly object: AuditObject;
  /** `created model gpt-5`, `suspended key acme/ci`. */
  readonly text: string;
  readonly before: Readonly<Record<string, unknown>> | null;
  readonly after: Readonly<Record<string, unknown>> | null;
}

/** Empty when nothing changed. */
export type ApplyReport = readonly ConfigChange[];

/** `next`: cursor of the next page. */
export interface Paged<Item> {
  readonly data: readonly Item[];
  readonly next: string | null;
}
