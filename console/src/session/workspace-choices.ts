import { useCall } from "../api/use-call.ts";
import { useSession } from "./session-context.tsx";

export interface WorkspaceChoice {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
}

const askedMax = 200;

/** The workspaces one may choose: one's own, or for an administrator those there are (by search, when they are many). */
export function useWorkspaceChoices(search = ""): readonly WorkspaceChoice[] {
  const { answer, user } = useSession();
  const all = useCall("workspaces.list", {
    query: { limit: askedMax, ...(search === "" ? {} : { search }) },
    enabled: user.administrator,
    keepBefore: true,
  });
  if (!user.administrator) return answer.workspaces;
  return all.data?.data ?? answer.workspaces;
}
