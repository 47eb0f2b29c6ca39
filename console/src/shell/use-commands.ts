import {
  IconActivity,
  IconBox,
  IconBuilding,
  IconKey,
  IconPlugConnected,
  IconUser,
  IconUsersGroup,
} from "@tabler/icons-react";
import type { LinkProps } from "@tanstack/react-router";
import { useMemo } from "react";
import { useCall } from "../api/use-call.ts";
import { vendorOfKind, vendorOfModel } from "../components/vendors/vendor-of.ts";
import { t } from "../language/areas/shell.ts";
import { useSession } from "../session/session-context.tsx";
import { useWorkspace } from "../session/workspace.ts";
import { useWorkspaceSearch } from "../session/workspace-choices.ts";
import { bestOf } from "./best-of.ts";
import type { Command, Verb } from "./command.ts";
import { useFixedCommands } from "./use-fixed-commands.ts";

/** Maximum shown per group, and maximum requested for ranking. */
const foundMax = 6;
const foundForVerbMax = 20;
const fetchedMax = 50;
const searchLength = 2;
/** The shown beginning of a key's secret. No more of a pasted secret is sent. */
const secretPrefixLength = 14;

interface Commands {
  readonly commands: readonly Command[];
  /** The results of the gateway are still missing. */
  readonly loading: boolean;
}

/**
 * Commands of the palette for a text. Pages and actions match immediately, so that fast typing and Enter work; keys, models, people and
 * workspaces are searched by the gateway after a pause in typing. With a verb, only its objects are found. Every command matches the
 * typed text; `loading` means that the search for it has not finished.
 */
export function useCommands(typed: string, searched: string, verb: Verb | null): Commands {
  const text = withoutSecret(searched);
  const fixed = useFixedCommands();
  const isSearched = searched === typed && text.length >= searchLength;
  const keys = useKeyCommands(text, verb);
  const people = usePeopleCommands(text, verb);
  const models = useModelCommands(text, verb === null);
  const providers = useProviderCommands(text, verb === null);
  const groups = useGroupCommands(text, verb === null);
  const workspaces = useWorkspaceCommands(text);
  const commands = useMemo(() => {
    if (verb !== null) {
      const objects = verb === "switchWorkspace" ? workspaces : verb === "disablePerson" ? people : keys;
      // Until the search has finished, these are objects of the previous text.
      return bestOf(objects.commands, withoutSecret(typed), foundForVerbMax);
    }
    const here = [...idCommands(typed), ...bestOf(fixed, typed, fixed.length)];
    if (!isSearched) return here;
    const found = [models, keys, people, providers, groups, workspaces];
    return [...here, ...found.flatMap(({ commands }) => bestOf(commands, text, foundMax))];
  }, [verb, typed, text, isSearched, fixed, keys, people, models, providers, groups, workspaces]);
  const isSearching = [keys, people, models, providers, groups, workspaces].some((each) => each.loading);
  const needsSearch = verb !== null || typed.length >= searchLength;
  return { commands, loading: needsSearch && (searched !== typed || isSearching) };
}

function withoutSecret(text: string): string {
  return text.startsWith("sk-") ? text.slice(0, secretPrefixLength) : text;
}

const none: Commands = { commands: [], loading: false };

function useKeyCommands(text: string, verb: Verb | null): Commands {
  const { user } = useSession();
  const { path, slug, may } = useWorkspace();
  const changes = verb === "revokeKey" || verb === "rotateKey" || verb === "editKey";
  const enabled =
    may("viewer") &&
    (slug !== null || user.administrator) &&
    (changes || (verb === null && text.length >= searchLength));
  // Admins may change every key, members their own.
  const own = changes && !may("admin") ? ({ mine: "true" } as const) : {};
  const { data, isFetching } = useCall("keys.list", {
    params: { workspace: path },
    query: { limit: fetchedMax, ...(text === "" ? {} : { search: text }), ...own },
    enabled,
    keepBefore: changes,
  });
  return useMemo(() => {
    if (!enabled) return none;
    const open = changes ? (data?.data ?? []).filter(({ state }) => state !== "revoked") : (data?.data ?? []);
    const step: Partial<Record<Verb, object>> = {
      revokeKey: { do: "revoke" },
      rotateKey: { do: "rotate" },
      editKey: { edit: "1" },
    };
    const commands = open.map(
      (key): Command => ({
        id: `key-${key.id}`,
        group: t("shell.pages.keys"),
        label: key.name,
        detail: `${key.workspace.slug} · …${key.last_four}`,
        words: `${key.id} ${key.prefix}`,
        icon: IconKey,
        link: {
          to: "/keys/$key",
          params: { key: key.id },
          search: { workspace: key.workspace.slug, ...(verb === null ? {} : step[verb]) },
        } as LinkProps,
      }),
    );
    return { commands, loading: isFetching };
  }, [enabled, changes, verb, data, isFetching]);
}

/** Administrators find every user, admins of a workspace its members. */
function usePeopleCommands(text: string, verb: Verb | null): Commands {
  const { user } = useSession();
  const { slug, may } = useWorkspace();
  const disables = verb === "disablePerson";
  const wanted = disables || (verb === null && text.length >= searchLength);
  const users = useCall("users.list", {
    query: { limit: fetchedMax, ...(text === "" ? {} : { search: text }) },
    enabled: wanted && user.administrator,
    keepBefore: disables,
  });
  const members = useCall("members.list", {
    params: { workspace: slug ?? "-" },
    enabled: wanted && !user.administrator && slug !== null && may("admin"),
  });
  const found = user.administrator ? users.data?.data : members.data?.data;
  const loading = users.isFetching || members.isFetching;
  return useMemo(() => {
    if (!wanted) return none;
    const commands = (found ?? []).map(
      (person): Command => ({
        id: `person-${person.id}`,
        group: t("shell.palette.people"),
        label: person.name || person.email,
        detail: person.email,
        words: person.id,
        icon: IconUser,
        link: { to: "/people/$person", params: { person: person.id } },
      }),
    );
    return { commands, loading };
  }, [wanted, found, loading]);
}

function useModelCommands(text: string, enabled: boolean): Commands {
  const { may } = useWorkspace();
  const wanted = enabled && text.length >= searchLength && may("viewer");
  const { data, isFetching } = useCall("models.list", { query: { search: text }, enabled: wanted });
  return useMemo(() => {
    if (!wanted) return none;
    const commands = (data?.data ?? []).map(
      (model): Command => ({
        id: `model-${model.name}`,
        group: t("shell.pages.models"),
        label: model.name,
        detail: model.type,
        icon: IconBox,
        logo: vendorOfModel(model.name, model.owned_by),
        link: { to: "/models/$model", params: { model: model.name } },
      }),
    );
    return { commands, loading: isFetching };
  }, [wanted, data, isFetching]);
}

function useProviderCommands(text: string, enabled: boolean): Commands {
  const { user } = useSession();
  const wanted = enabled && text.length >= searchLength && user.administrator;
  const { data, isFetching } = useCall("providers.list", { enabled: wanted });
  return useMemo(() => {
    if (!wanted) return none;
    const commands = (data?.data ?? []).map(
      (provider): Command => ({
        id: `provider-${provider.id}`,
        group: t("shell.pages.providers"),
        label: provider.id,
        detail: provider.kind,
        icon: IconPlugConnected,
        logo: vendorOfKind(provider.kind),
        link: { to: "/providers/$provider", params: { provider: provider.id } },
      }),
    );
    return { commands, loading: isFetching };
  }, [wanted, data, isFetching]);
}

/** The groups of the chosen workspace. */
function useGroupCommands(text: string, enabled: boolean): Commands {
  const { slug } = useWorkspace();
  const wanted = enabled && text.length >= searchLength && slug !== null;
  const { data, isFetching } = useCall("groups.list", { params: { workspace: slug ?? "-" }, enabled: wanted });
  return useMemo(() => {
    if (!wanted || slug === null) return none;
    const commands = (data?.data ?? []).map(
      (group): Command => ({
        id: `group-${group.id}`,
        group: t("shell.palette.groups"),
        label: group.name,
        detail: slug,
        words: group.id,
        icon: IconUsersGroup,
        link: {
          to: "/workspaces/$workspace/groups/$group",
          params: { workspace: slug, group: group.id },
          search: { workspace: slug },
        },
      }),
    );
    return { commands, loading: isFetching };
  }, [wanted, slug, data, isFetching]);
}

function useWorkspaceCommands(text: string): Commands {
  const { user } = useSession();
  const { choose } = useWorkspace();
  const { choices, loading } = useWorkspaceSearch(text);
  return useMemo(() => {
    const all = { id: "", slug: null, name: t("shell.workspace.all") };
    const commands = [...(user.administrator ? [all] : []), ...choices].map(
      (each): Command => ({
        id: `workspace-${each.id}`,
        group: t("shell.palette.switchWorkspace"),
        label: each.name,
        detail: each.slug,
        words: each.id,
        icon: IconBuilding,
        link: {},
        act: () => choose(each.slug),
      }),
    );
    return { commands, loading };
  }, [user.administrator, choices, loading, choose]);
}

/** An id opens its object, or searches the requests for it. */
function idCommands(text: string): readonly Command[] {
  const entry = { group: t("shell.palette.byId"), detail: text, icon: IconActivity };
  if (/^req_\w{8,}$/.test(text)) {
    const link = { to: "/requests/$request", params: { request: text } } as const;
    return [{ ...entry, id: "request", label: t("shell.palette.openRequest"), link }];
  }
  if (/^vt_\w{4,}$/.test(text)) {
    const link = { to: "/media/$task", params: { task: text } } as const;
    return [{ ...entry, id: "task", label: t("shell.palette.openTask"), link }];
  }
  if (/^key_\w{8,}$/.test(text)) {
    const link = { to: "/keys/$key", params: { key: text } } as const;
    return [{ ...entry, id: "key", label: t("shell.palette.openKey"), link }];
  }
  const requests: Command = {
    ...entry,
    id: "requests",
    label: t("shell.palette.findRequests"),
    link: { to: "/requests", search: { search: text } },
  };
  if (/^(?:att|resp|msg|chatcmpl|gen|cmpl)[_-]\w{4,}$/.test(text)) return [requests];
  // Providers and agents use many other forms of ids.
  if (!/^[\w:.-]{16,128}$/.test(text) || !/\d/.test(text)) return [];
  const sessions = { to: "/requests/sessions", search: { search: text } } as const;
  return [requests, { ...entry, id: "session", label: t("shell.palette.findSession"), link: sessions }];
}
