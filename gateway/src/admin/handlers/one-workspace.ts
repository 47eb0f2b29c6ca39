import { Failure, type Workspace } from "#core/index.ts";

/** Where every workspace at once makes no sense. */
export function oneWorkspace({ workspace }: { readonly workspace: Workspace | null }): Workspace {
  if (workspace !== null) return workspace;
  throw new Failure("invalid_request", "Name one workspace: this cannot be asked of all at once.", {
    param: "workspace",
  });
}
