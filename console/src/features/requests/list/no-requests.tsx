import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { EmptyState } from "../../../components/empty-state.tsx";
import { t } from "../../../language/areas/requests.ts";
import { useUrlChange, useUrlSearch } from "../../../routes/search.ts";
import { useSession } from "../../../session/session-context.tsx";
import { requestFilters } from "../request-query.ts";

/** Explains why the list is empty and what to do: clear filters, extend the range, or send a first request. */
export function NoRequests({ icon }: { readonly icon: ReactNode }) {
  const search = useUrlSearch();
  const change = useUrlChange();
  const { answer } = useSession();
  const set = requestFilters.filter((name) => (search[name] ?? "") !== "");
  if (!answer.first_steps.call) {
    return (
      <EmptyState
        icon={icon}
        title={t("requests.empty.firstTitle")}
        action={
          <Button renderRoot={(props) => <Link to="/playground" {...props} />}>
            {t("requests.empty.openPlayground")}
          </Button>
        }
      >
        {t("requests.empty.firstHelp")}
      </EmptyState>
    );
  }
  if (set.length > 0) {
    return (
      <EmptyState
        icon={icon}
        title={t("requests.empty.filteredTitle")}
        action={
          <Button variant="default" onClick={() => change(Object.fromEntries(set.map((name) => [name, ""])))}>
            {t("requests.empty.clearFilters")}
          </Button>
        }
      >
        {search["search"] === undefined ? t("requests.empty.filteredHelp") : t("requests.empty.searchHelp")}
      </EmptyState>
    );
  }
  return (
    <EmptyState
      icon={icon}
      title={t("requests.empty.rangeTitle")}
      action={
        <Button variant="default" onClick={() => change({ range: "90d", from: "", to: "" })}>
          {t("requests.empty.show90Days")}
        </Button>
      }
    >
      {t("requests.empty.rangeHelp")}
    </EmptyState>
  );
}
