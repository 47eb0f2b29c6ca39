import type { AnswerOf, CallOptions, RouteId } from "@sluice/contract";
import { type UseMutationResult, useMutation, useQueryClient } from "@tanstack/react-query";
import { asProblem, type Problem } from "../client/problem.ts";
import { noticeDone, noticeProblem } from "../components/notice.tsx";
import { useClient } from "./call-context.tsx";
import { callKey } from "./use-call.ts";

export interface ActSettings<Id extends RouteId> {
  /** Routes to refetch afterwards. */
  readonly invalidates?: readonly RouteId[];
  /**
   * The route that shows the changed object. The response is stored as its result for the same parameters, so that a form does not
   * show the old values until the next refetch.
   */
  readonly shownBy?: RouteId;
  /** Shown in a notice on success. */
  readonly done?: string | ((answer: AnswerOf<Id>) => string);
  /** true: the caller shows `error`, as forms do; otherwise a notice shows it. */
  readonly inline?: boolean;
  readonly onDone?: (answer: AnswerOf<Id>, options: ActOptions<Id>) => void;
}

type ActOptions<Id extends RouteId> = Omit<CallOptions<Id>, "signal">;
export type Act<Id extends RouteId> = UseMutationResult<AnswerOf<Id>, Problem, ActOptions<Id>>;

/**
 * A call that changes something: `const revoke = useAct("keys.revoke", { invalidates: ["keys.list"] })`, then
 * `revoke.mutate({ params: { workspace, key } })`. Its `error` is a Problem; `param` names the field.
 */
export function useAct<Id extends RouteId>(id: Id, settings: ActSettings<Id> = {}): Act<Id> {
  const call = useClient();
  const queries = useQueryClient();
  return useMutation<AnswerOf<Id>, Problem, ActOptions<Id>>({
    // The response may contain a secret. Discard it with the page or dialog that shows it.
    gcTime: 0,
    mutationFn: async (options) => {
      try {
        return await call(id, options as CallOptions<Id>);
      } catch (thrown) {
        throw asProblem(thrown);
      }
    },
    onSuccess: async (answer, options) => {
      const { done, shownBy } = settings;
      if (shownBy !== undefined) queries.setQueryData(callKey(shownBy, { params: options.params as never }), answer);
      if (done !== undefined) noticeDone(typeof done === "function" ? done(answer) : done);
      settings.onDone?.(answer, options);
      await Promise.all((settings.invalidates ?? []).map((route) => queries.invalidateQueries({ queryKey: [route] })));
    },
    onError: (problem) => {
      if (settings.inline !== true) noticeProblem(problem);
    },
  });
}
