import {
  type UseMutationResult,
  type UseQueryResult,
  useMutation,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { asProblem, type Problem } from "../client/problem.ts";
import { noticeDone, noticeProblem } from "../components/notice.tsx";
import { useAsk } from "./call-context.tsx";

const base = "/api/auth";

/** Sign-in data of the current user, in the gateway's shape (see `auth-answers.ts`). */
export function useAuthGet<Answer>(
  path: string,
  { staleMs }: { readonly staleMs?: number } = {},
): UseQueryResult<Answer, Problem> {
  const ask = useAsk();
  return useQuery<Answer, Problem>({
    queryKey: ["auth", path],
    queryFn: async ({ signal }) => (await ask(base + path, { method: "GET", body: null, signal })) as Answer,
    ...(staleMs === undefined ? {} : { staleTime: staleMs }),
  });
}

interface AuthActSettings<Answer> {
  readonly done?: string;
  /** true: the caller shows `error` itself. */
  readonly inline?: boolean;
  readonly onDone?: (answer: Answer) => void;
}

/** Changes the user's sign-in methods, and then refetches all sign-in data. */
export function useAuthAct<Body extends object, Answer = unknown>(
  path: string,
  settings: AuthActSettings<Answer> = {},
): UseMutationResult<Answer, Problem, Body> {
  const ask = useAsk();
  const queries = useQueryClient();
  return useMutation<Answer, Problem, Body>({
    // The response may contain codes that are shown once. Discard it with its dialog.
    gcTime: 0,
    mutationFn: async (body) => {
      try {
        return (await ask(base + path, { method: "POST", body: JSON.stringify(body), signal: null })) as Answer;
      } catch (thrown) {
        throw asProblem(thrown);
      }
    },
    onSuccess: async (answer) => {
      if (settings.done !== undefined) noticeDone(settings.done);
      settings.onDone?.(answer);
      await queries.invalidateQueries({ queryKey: ["auth"] });
      await queries.invalidateQueries({ queryKey: ["session.show"] });
    },
    onError: (problem) => {
      if (settings.inline !== true) noticeProblem(problem);
    },
  });
}
