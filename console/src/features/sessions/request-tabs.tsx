import { Tabs } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { t } from "../../language/areas/sessions.ts";
import { useUrlSearch } from "../../routes/search.ts";

type View = "requests" | "sessions";

const pages = { requests: "/requests", sessions: "/requests/sessions" } as const;
/** Filters that both lists have. */
const sharedFilters = ["range", "from", "to", "key", "model", "person"] as const;

/** Switches between single requests and sessions, with the filters that both have. */
export function RequestTabs({ value }: { readonly value: View }) {
  const navigate = useNavigate();
  const search = useUrlSearch();
  const shared = Object.fromEntries(sharedFilters.map((name) => [name, search[name]]));
  return (
    <Tabs
      value={value}
      onChange={(next) => void navigate({ to: pages[next === "sessions" ? next : "requests"], search: shared })}
    >
      <Tabs.List aria-label={t("sessions.tabs")}>
        <Tabs.Tab value="requests">{t("sessions.requests")}</Tabs.Tab>
        <Tabs.Tab value="sessions">{t("sessions.title")}</Tabs.Tab>
      </Tabs.List>
    </Tabs>
  );
}
