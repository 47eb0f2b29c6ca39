import { Button } from "@mantine/core";
import type { ReactNode } from "react";
import { t } from "../language/areas/components.ts";
import { useUrlChange, useUrlSearch } from "../routes/search.ts";
import { EmptyState } from "./empty-state.tsx";

/** Whether the URL sets one of these filters. */
export function useIsFiltered(filters: readonly string[]): boolean {
  const search = useUrlSearch();
  return filters.some((name) => (search[name] ?? "") !== "");
}

interface NoMatchProps {
  readonly icon: ReactNode;
  readonly title: string;
  /** Names of the filters in the URL. */
  readonly filters: readonly string[];
}

/** Shown for a list in which nothing matches the filters, with a button that clears them. */
export function NoMatch({ icon, title, filters }: NoMatchProps) {
  const change = useUrlChange();
  return (
    <EmptyState
      icon={icon}
      title={title}
      action={
        <Button variant="default" onClick={() => change(Object.fromEntries(filters.map((name) => [name, ""])))}>
          {t("components.noMatch.clear")}
        </Button>
      }
    >
      {t("components.noMatch.help")}
    </EmptyState>
  );
}
