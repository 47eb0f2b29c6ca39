import { useMantineColorScheme } from "@mantine/core";
import {
  IconArrowsExchange,
  IconBan,
  IconBook,
  IconBoxMultiple,
  IconBuildingPlus,
  IconGauge,
  IconKey,
  IconKeyOff,
  IconLanguage,
  IconLogout,
  IconMoon,
  IconPencil,
  IconPlugConnected,
  IconRefresh,
  IconSettings,
  IconSun,
  IconUser,
  IconUserPlus,
} from "@tabler/icons-react";
import type { LinkProps } from "@tanstack/react-router";
import { useMemo } from "react";
import { t } from "../language/areas/shell.ts";
import { isLanguage, language, languages } from "../language/index.ts";
import { useSession } from "../session/session-context.tsx";
import { useChooseLanguage } from "../session/use-language.ts";
import { useSignOut } from "../session/use-sign-out.ts";
import { useOneWorkspace, useWorkspace } from "../session/workspace.ts";
import type { Command } from "./command.ts";
import { settingsTabs, visiblePages } from "./page-list.ts";

/** The commands that need no search: verbs, pages, and settings of the console. Only what the user may do. */
export function useFixedCommands(): readonly Command[] {
  const verbs = useVerbs();
  const pages = usePages();
  const preferences = usePreferences();
  return useMemo(() => [...pages, ...verbs, ...preferences], [pages, verbs, preferences]);
}

function useVerbs(): readonly Command[] {
  const { answer } = useSession();
  const { may } = useWorkspace();
  const slug = useOneWorkspace();
  return useMemo(() => {
    const entry = { group: t("shell.palette.actions"), detail: null, link: {} };
    const administers = may("administrator");
    const commands: readonly (Command | false)[] = [
      may("member") && {
        ...entry,
        id: "create-key",
        label: t("shell.verbs.createKey"),
        words: t("shell.verbWords.createKey"),
        icon: IconKey,
        link: { to: "/keys", search: { create: "1" } } as LinkProps,
      },
      may("admin") &&
        slug !== null && {
          ...entry,
          id: "invite",
          label: t("shell.verbs.invite"),
          words: t("shell.verbWords.invite"),
          icon: IconUserPlus,
          link: {
            to: "/workspaces/$workspace",
            params: { workspace: slug },
            search: { workspace: slug, tab: "members", invite: "1" },
          } as LinkProps,
        },
      administers && {
        ...entry,
        id: "add-provider",
        label: t("shell.verbs.addProvider"),
        words: t("shell.verbWords.addProvider"),
        icon: IconPlugConnected,
        link: { to: "/providers", search: { add: "choose" } } as LinkProps,
      },
      administers && {
        ...entry,
        id: "add-model",
        label: t("shell.verbs.addModel"),
        words: t("shell.verbWords.addModel"),
        icon: IconBoxMultiple,
        link: { to: "/models", search: { add: "1" } } as LinkProps,
      },
      administers && {
        ...entry,
        id: "create-workspace",
        label: t("shell.verbs.createWorkspace"),
        words: t("shell.verbWords.createWorkspace"),
        icon: IconBuildingPlus,
        link: { to: "/workspaces", search: { create: "1" } } as LinkProps,
      },
      may("member") && {
        ...entry,
        id: "rotate-key",
        label: t("shell.verbs.rotateKey"),
        words: t("shell.verbWords.rotateKey"),
        icon: IconRefresh,
        verb: "rotateKey",
      },
      may("member") && {
        ...entry,
        id: "edit-key",
        label: t("shell.verbs.editKey"),
        words: t("shell.verbWords.editKey"),
        icon: IconPencil,
        verb: "editKey",
      },
      may("member") && {
        ...entry,
        id: "revoke-key",
        label: t("shell.verbs.revokeKey"),
        words: t("shell.verbWords.revokeKey"),
        icon: IconKeyOff,
        verb: "revokeKey",
      },
      administers && {
        ...entry,
        id: "disable-person",
        label: t("shell.verbs.disablePerson"),
        words: t("shell.verbWords.disablePerson"),
        icon: IconBan,
        verb: "disablePerson",
      },
      answer.workspaces.length > 1 && {
        ...entry,
        id: "switch-workspace",
        label: t("shell.verbs.switchWorkspace"),
        words: t("shell.verbWords.switchWorkspace"),
        icon: IconArrowsExchange,
        verb: "switchWorkspace",
      },
    ];
    return commands.filter((command) => command !== false);
  }, [answer, may, slug]);
}

function usePages(): readonly Command[] {
  const { media } = useSession().answer;
  const { may } = useWorkspace();
  return useMemo(() => {
    const entry = { group: t("shell.groups.pages"), detail: null };
    return [
      ...visiblePages(may, media).map(({ to, label, icon }) => ({
        ...entry,
        id: to,
        label,
        icon,
        link: { to } as LinkProps,
      })),
      ...settingsTabs
        .filter(({ id }) => may("administrator") || id === "tokens")
        .map(({ id, label }) => ({
          ...entry,
          id: `settings-${id}`,
          group: t("shell.pages.settings"),
          label: t("shell.palette.settingsTab", { label }),
          icon: IconSettings,
          link: { to: "/settings", search: { tab: id } } as LinkProps,
        })),
      { ...entry, id: "/my-usage", label: t("shell.pages.ownUsage"), icon: IconGauge, link: { to: "/my-usage" } },
      { ...entry, id: "/profile", label: t("shell.pages.profile"), icon: IconUser, link: { to: "/profile" } },
      {
        ...entry,
        id: "docs",
        label: t("shell.pages.reference"),
        words: t("shell.verbWords.docs"),
        icon: IconBook,
        link: {},
        act: () => void window.open("/docs", "_blank", "noopener"),
      },
    ];
  }, [may, media]);
}

function usePreferences(): readonly Command[] {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const { choose } = useChooseLanguage();
  const signOut = useSignOut();
  const other = colorScheme === "dark" ? "light" : "dark";
  const entry = { group: t("shell.palette.actions"), detail: null, link: {} };
  return [
    {
      ...entry,
      id: "scheme",
      label: t(other === "dark" ? "shell.palette.darkMode" : "shell.palette.lightMode"),
      words: t("shell.verbWords.scheme"),
      icon: other === "dark" ? IconMoon : IconSun,
      act: () => setColorScheme(other),
    },
    ...languages
      .filter(({ id }) => id !== language)
      .map(({ id, name }) => ({
        ...entry,
        id: `language-${id}`,
        label: t("shell.palette.language", { name }),
        words: t("shell.verbWords.language"),
        icon: IconLanguage,
        act: () => {
          if (isLanguage(id)) void choose(id);
        },
      })),
    { ...entry, id: "sign-out", label: t("shell.user.signOut"), icon: IconLogout, act: () => void signOut() },
  ];
}
