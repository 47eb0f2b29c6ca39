import { useMantineColorScheme } from "@mantine/core";
import {
  IconActivity,
  IconBook,
  IconBox,
  IconBuilding,
  IconGauge,
  IconKey,
  IconMoon,
  IconPlugConnected,
  IconSettings,
  IconSun,
  IconUser,
} from "@tabler/icons-react";
import type { LinkProps } from "@tanstack/react-router";
import { useMemo } from "react";
import { useCall } from "../api/use-call.ts";
import { t } from "../language/areas/shell.ts";
import { useSession } from "../session/session-context.tsx";
import { type ChosenWorkspace, useWorkspace } from "../session/workspace.ts";
import { useWorkspaceChoices } from "../session/workspace-choices.ts";
import { bestOf } from "./best-of.ts";
import type { Command } from "./command.ts";
import { settingsTabs, visiblePages } from "./page-list.ts";

/** Maximum shown per group, and maximum requested for ranking. */
const foundMax = 6;
const fetchedMax = 50;
const searchLength = 2;

/**
 * Commands of the palette for a text. Pages and actions match immediately, so that fast typing and Enter work; keys, models and
 * workspaces are searched after a pause in typing.
 */
export function useCommands(
  typed: string,
  text: string,
): { readonly commands: readonly Command[]; readonly loading: boolean } {
  const { user } = useSession();
  const workspace = useWorkspace();
  const pages = usePages(workspace);
  const worth = text.length >= searchLength && workspace.may("viewer");
  const keys = useCall("keys.list", {
    params: { workspace: workspace.path },
    query: { search: text, limit: fetchedMax },
    enabled: worth && (workspace.slug !== null || user.administrator),
  });
  const models = useCall("models.list", { query: { search: text }, enabled: worth });
  const providers = useCall("providers.list", { enabled: worth && user.administrator });
  const workspaces = useWorkspaceChoices(text);
  const commands = useMemo(() => {
    const here = [...requestCommands(typed), ...bestOf(pages, typed, pages.length)];
    if (text !== typed || text.length < searchLength) return here;
    const keysFound = ((worth ? keys.data?.data : null) ?? []).map(
      (key): Command => ({
        id: `key-${key.id}`,
        group: t("shell.pages.keys"),
        label: key.name,
        detail: `${key.workspace.slug} · …${key.last_four}`,
        icon: IconKey,
        link: { to: "/keys/$key", params: { key: key.id }, search: { workspace: key.workspace.slug } },
      }),
    );
    const modelsFound = ((worth ? models.data?.data : null) ?? []).map(
      (model): Command => ({
        id: `model-${model.name}`,
        group: t("shell.pages.models"),
        label: model.name,
        detail: model.type,
        icon: IconBox,
        link: { to: "/models/$model", params: { model: model.name } },
      }),
    );
    const providersFound = ((worth ? providers.data?.data : null) ?? []).map(
      (provider): Command => ({
        id: `provider-${provider.id}`,
        group: t("shell.pages.providers"),
        label: provider.id,
        detail: provider.kind,
        icon: IconPlugConnected,
        link: { to: "/providers/$provider", params: { provider: provider.id } },
      }),
    );
    const workspacesFound = workspaces.map(
      (each): Command => ({
        id: `workspace-${each.id}`,
        group: t("shell.palette.switchWorkspace"),
        label: each.name,
        detail: each.slug,
        icon: IconBuilding,
        link: {},
        act: () => workspace.choose(each.slug),
      }),
    );
    return [here, modelsFound, keysFound, providersFound, workspacesFound].flatMap((group) =>
      group === here ? here : bestOf(group, text, foundMax),
    );
  }, [typed, text, worth, pages, keys.data, models.data, providers.data, workspaces, workspace]);
  return { commands, loading: worth && (keys.isFetching || models.isFetching) };
}

function usePages(workspace: ChosenWorkspace): readonly Command[] {
  const { media } = useSession().answer;
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return useMemo(() => {
    const pages = visiblePages(workspace.may, media);
    const other = colorScheme === "dark" ? "light" : "dark";
    return [
      ...pages.map(({ to, label, icon }) => ({
        id: to,
        group: t("shell.groups.pages"),
        label,
        detail: null,
        icon,
        link: { to } as LinkProps,
      })),
      ...settingsPages(workspace.may("administrator")),
      {
        id: "/my-usage",
        group: t("shell.groups.pages"),
        label: t("shell.pages.ownUsage"),
        detail: null,
        icon: IconGauge,
        link: { to: "/my-usage" },
      },
      {
        id: "/profile",
        group: t("shell.groups.pages"),
        label: t("shell.pages.profile"),
        detail: null,
        icon: IconUser,
        link: { to: "/profile" },
      },
      {
        id: "docs",
        group: t("shell.groups.pages"),
        label: t("shell.pages.reference"),
        detail: null,
        icon: IconBook,
        link: {},
        act: () => void window.open("/docs", "_blank", "noopener"),
      },
      {
        id: "scheme",
        group: t("shell.palette.actions"),
        label: t(other === "dark" ? "shell.palette.darkMode" : "shell.palette.lightMode"),
        detail: null,
        icon: other === "dark" ? IconMoon : IconSun,
        link: {},
        act: () => setColorScheme(other),
      },
    ];
  }, [workspace.may, media, colorScheme, setColorScheme]);
}

/** A request ID opens the request; an attempt ID searches the list. */
function requestCommands(text: string): readonly Command[] {
  const entry = { group: t("shell.pages.requests"), detail: text, icon: IconActivity };
  if (/^req_\w{8,}$/.test(text)) {
    return [
      {
        ...entry,
        id: "request",
        label: t("shell.palette.openRequest"),
        link: { to: "/requests/$request", params: { request: text } },
      },
    ];
  }
  if (/^att_\w{4,}$/.test(text)) {
    return [
      {
        ...entry,
        id: "attempt",
        label: t("shell.palette.findAttempt"),
        link: { to: "/requests", search: { search: text } },
      },
    ];
  }
  return [];
}

function settingsPages(administrator: boolean): readonly Command[] {
  return settingsTabs
    .filter(({ id }) => administrator || id === "tokens")
    .map(({ id, label }) => ({
      id: `settings-${id}`,
      group: t("shell.pages.settings"),
      label: t("shell.palette.settingsTab", { label }),
      detail: null,
      icon: IconSettings,
      link: { to: "/settings", search: { tab: id } } as LinkProps,
    }));
}
