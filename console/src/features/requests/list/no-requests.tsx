import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { EmptyState } from "../../../components/empty-state.tsx";
import { useUrlChange, useUrlSearch } from "../../../routes/search.ts";
import { useSession } from "../../../session/session-context.tsx";
import { requestFilters } from "../request-query.ts";

/** Why there is nothing, and what to do: take filters away, look further back, or make a first call. */
export function NoRequests({ icon }: { readonly icon: ReactNode }) {
  const search = useUrlSearch();
  const change = useUrlChange();
  const { answer } = useSession();
  const set = requestFilters.filter((name) => (search[name] ?? "") !== "");
  if (!answer.first_steps.call) {
    return (
      <EmptyState
        icon={icon}
        title="No call has been made yet"
        action={<Button renderRoot={(props) => <Link to="/playground" {...props} />}>Open the playground</Button>}
      >
        Point a program at this gateway, or try a model in the playground. Each call shows up here with its cost, its
        timing and the reason why it went where it went.
      </EmptyState>
    );
  }
  if (set.length > 0) {
    return (
      <EmptyState
        icon={icon}
        title="No request fits these filters"
        action={
          <Button variant="default" onClick={() => change(Object.fromEntries(set.map((name) => [name, ""])))}>
            Clear the filters
          </Button>
        }
      >
        {search["search"] === undefined
          ? "Clear some of them, or look at a longer time."
          : "An id is found by its beginning: a request id, an attempt id, or the upstream's own id."}
      </EmptyState>
    );
  }
  return (
    <EmptyState
      icon={icon}
      title="No requests in this time"
      action={
        <Button variant="default" onClick={() => change({ range: "90d", from: "", to: "" })}>
          Look at 90 days
        </Button>
      }
    >
      There were calls before. Choose a longer time to see them.
    </EmptyState>
  );
}
