import type { AttentionItem, Remark, RemarkCode } from "@sluice/contract";
import type { Actor, Workspace } from "#core/index.ts";
import type { ConsoleDependencies } from "../dependencies.ts";

/** The part of the installation that a check reads. */
interface AttentionScope {
  /** null: all workspaces, for administrators. */
  readonly workspace: Workspace | null;
  readonly actor: Actor;
  /** If set, only what concerns this person. null: everything of the workspace. */
  readonly person: string | null;
  readonly now: number;
}

export type Finding = {
  readonly [Code in RemarkCode<"attention">]: {
    readonly severity: AttentionItem["severity"];
    readonly code: Code;
    readonly params: Extract<Remark<"attention">, { readonly code: Code }>["params"];
    readonly workspace: AttentionItem["workspace"];
    readonly subject: AttentionItem["subject"];
    readonly alerts?: AttentionItem["alerts"];
    /** Orders findings of one severity, the highest first. Default 0. */
    readonly weight?: number;
  };
}[RemarkCode<"attention">];

export type Check = (scope: AttentionScope, dependencies: ConsoleDependencies) => Promise<readonly Finding[]>;

/** A workspace as answers name it. */
export function placeOf({ id, slug }: Pick<Workspace, "id" | "slug">): AttentionItem["workspace"] {
  return { id, slug };
}
