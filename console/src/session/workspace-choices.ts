import { useCall } from "../api/use-call.ts";
import { useSession } from "./session-context.tsx";

export interface WorkspaceChoice {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
}

const limitMax = 200;

/** The workspaces to choose from: the user's, or all for an administrator (by search, if there are many). */
export function useWorkspaceChoices(search = ""): readonly WorkspaceChoice[] {
  return useWorkspaceSearch(search).choices;
}

/** `loading`: the search is running; until it finishes, the choices are the previous results. */
export function useWorkspaceSearch(search: string): {
  readonly choices: readonly WorkspaceChoice[];
  readonly loading: boolean;
} {
  const { answer, user } = useSession();
  const all = useCall("workspaces.list", {
    query: { limit: limitMax, ...(search === "" ? {} : { search }) },
    enabled: user.administrator,
    keepBefore: true,
  });
  return { choices: all.data?.data ?? answer.workspaces, loading: all.isFetching };
}
