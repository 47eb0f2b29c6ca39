import type { AuditAction, AuditObject } from "@sluice/contract/words";

/** The actor of a change and their address, for the audit log. */
export interface AuditSource {
  readonly actor: string;
  readonly ip: string | null;
}

/** Something that happened, as a row of the audit log. */
export interface AuditEvent {
  readonly action: AuditAction;
  readonly object: AuditObject;
  /** null: it concerns the installation. */
  readonly workspaceId: string | null;
  readonly after?: unknown;
}

/** One object that `apply` changed. `before` and `after` hold no secrets. */
export interface ConfigChange {
  readonly action: AuditAction;
  readonly object: AuditObject;
  /** In words: `created model gpt-5`, `suspended key acme/ci`. */
  readonly text: string;
  readonly before: Readonly<Record<string, unknown>> | null;
  readonly after: Readonly<Record<string, unknown>> | null;
}

/** Empty when nothing changed. */
export type ApplyReport = readonly ConfigChange[];

/** A page of a list, and the cursor of the next. */
export interface Paged<Item> {
  readonly data: readonly Item[];
  readonly next: string | null;
}
