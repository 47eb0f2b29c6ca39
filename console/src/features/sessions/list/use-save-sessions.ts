import type { AnswerOf, QueryInput, RequestSession, RouteParams } from "@sluice/contract";
import { useMutation } from "@tanstack/react-query";
import { useClient } from "../../../api/call-context.tsx";
import type { Problem } from "../../../client/problem.ts";
import { saveAs } from "../../settings/save-as.ts";
import { sessionsCsv } from "./sessions-csv.ts";

interface SessionList {
  readonly params: RouteParams<"sessions.list">;
  readonly query: QueryInput<"sessions.list">;
}

const pageLimit = 200;
/** Up to 100,000 sessions. */
const pagesMax = 500;

/** Reads every page of a list of sessions, and saves it as a file for spreadsheets. */
export function useSaveSessions({ params, query }: SessionList) {
  const call = useClient();
  return useMutation<void, Problem>({
    mutationFn: async () => {
      const sessions: RequestSession[] = [];
      let cursor: string | null = null;
      for (let page = 0; page < pagesMax; page++) {
        const pageQuery = { ...query, limit: pageLimit, ...(cursor === null ? {} : { cursor }) };
        const answer: AnswerOf<"sessions.list"> = await call("sessions.list", { params, query: pageQuery });
        sessions.push(...answer.data);
        cursor = answer.next;
        if (cursor === null) break;
      }
      saveAs(new Blob([sessionsCsv(sessions)], { type: "text/csv" }), "sessions.csv");
    },
  });
}
