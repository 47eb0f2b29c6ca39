import { Button, Group, Stack, Text, Tooltip } from "@mantine/core";
import { type AnswerOf, everyWorkspace, userSorts } from "@sluice/contract";
import { IconUsers } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { usePages } from "../../api/use-pages.ts";
import { formatMoment } from "../../client/format.ts";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { Money, Nothing, When } from "../../components/figures.tsx";
import { type Filter, FilterBar } from "../../components/filter-bar.tsx";
import { ManagedByFile } from "../../components/managed-by-file.tsx";
import { SearchBox } from "../../components/search-box.tsx";
import { Section } from "../../components/section.tsx";
import { StatusBadge } from "../../components/status-badge.tsx";
import { t as scimWords } from "../../language/areas/scim.ts";
import { t } from "../../language/areas/settings.ts";
import { sinceDays, useOrder, useUrlSearch, useUrlText } from "../../routes/search.ts";
import { useSession } from "../../session/session-context.tsx";
import { AdministratorInvitations } from "./administrator-invitations.tsx";
import { InviteAdministrator } from "./invite-administrator.tsx";
import { UserActions } from "./user-actions.tsx";

/** All users of the console. */
export function UsersTab() {
  const [search] = useUrlText("search");
  const [create, setCreate] = useUrlText("create");
  const { role, state, unseen } = useUrlSearch();
  const order = useOrder(userSorts, "who");
  const unseenSince = sinceDays(unseen);
  const users = usePages("users.list", {
    query: {
      sort: order.by,
      ...(search === "" ? {} : { search }),
      ...(role === "administrator" || role === "other" ? { role } : {}),
      ...(state === "enabled" || state === "disabled" ? { state } : {}),
      ...(unseenSince === null ? {} : { unseen_since: unseenSince }),
    },
  });
  return (
    <Stack gap="lg">
      <Section
        flush
        title={t("settings.users.title")}
        description={t("settings.users.help")}
        actions={<Button onClick={() => setCreate("administrator")}>{t("settings.users.invite")}</Button>}
      >
        <Group px="md" pb="sm">
          <FilterBar filters={filters}>
            <SearchBox label={t("settings.users.find")} placeholder={t("settings.users.findHelp")} />
          </FilterBar>
        </Group>
        <DataTable
          label={t("settings.users.title")}
          columns={columns}
          rows={users}
          rowKey={(user) => user.id}
          name="users"
          pageSize={50}
          order={order}
          dimmed={(user) => user.disabled}
          empty={
            <EmptyState icon={<IconUsers />} title={t("settings.users.noMatch")}>
              {t("settings.users.noMatchHelp")}
            </EmptyState>
          }
        />
      </Section>
      <AdministratorInvitations />
      <InviteAdministrator opened={create === "administrator"} onClose={() => setCreate("")} />
    </Stack>
  );
}

const filters: readonly Filter[] = [
  {
    name: "role",
    label: t("settings.users.role"),
    choices: [
      { value: "administrator", label: t("settings.users.administrators") },
      { value: "other", label: t("settings.users.others") },
    ],
  },
  {
    name: "state",
    label: t("settings.users.state"),
    choices: [
      { value: "enabled", label: t("settings.users.enabled") },
      { value: "disabled", label: t("settings.users.disabled") },
    ],
  },
  {
    name: "unseen",
    label: t("settings.users.unseen"),
    choices: [30, 90].map((days) => ({ value: String(days), label: t("settings.users.unseenFor", { days }) })),
  },
];

type ListedUser = AnswerOf<"users.list">["data"][number];

const columns: readonly Column<ListedUser>[] = [
  {
    id: "who",
    header: t("settings.users.user"),
    cell: (user) => <Who user={user} />,
    sortBy: "gateway",
  },
  { id: "role", header: t("settings.users.workspaces"), sortBy: "gateway", cell: (user) => <Places user={user} /> },
  { id: "factors", header: t("settings.users.secondFactor"), cell: (user) => <Factors user={user} /> },
  {
    id: "spend",
    header: t("settings.users.spend"),
    cell: ({ spend_usd: usd }) =>
      usd === null ? <Nothing word={t("settings.users.noSpend")} /> : <Money usd={usd} cents />,
    sortBy: "gateway",
    align: "right",
  },
  {
    id: "made",
    header: t("settings.users.since"),
    cell: (user) => <When at={user.created_at} />,
    sortBy: "gateway",
  },
  {
    id: "seen",
    header: t("settings.users.lastSeen"),
    cell: (user) => <When at={user.last_seen_at} />,
    sortBy: "gateway",
  },
  { id: "do", header: t("settings.actions"), quiet: true, align: "right", cell: (user) => <UserActions user={user} /> },
];

function Who({ user }: { readonly user: ListedUser }) {
  const { user: me } = useSession();
  return (
    <div>
      <Group gap="xs">
        <Link
          to="/people/$person"
          params={{ person: user.id }}
          search={{ workspace: everyWorkspace }}
          className="text-link break"
        >
          {user.name || user.email}
        </Link>
        {user.id === me.id && <StatusBadge status="you" tone="off" />}
        {user.administrator && <StatusBadge status="administrator" tone="busy" />}
        {user.disabled && <StatusBadge status="disabled" tone="bad" />}
        {user.suspended && <ManagedByFile by="suspended" />}
        {user.sources.map((source) => (
          <SourceMark key={source.source} of={source} />
        ))}
      </Group>
      <Text fz="xs" c="dimmed" className="break">
        {user.email}
      </Text>
    </div>
  );
}

/** Badges of users that a directory manages, and what can be changed here. */
function SourceMark({ of: { source, made, since } }: { readonly of: ListedUser["sources"][number] }) {
  const when = formatMoment(since);
  if (source === "scim") {
    const hint = made ? scimWords("scim.marks.made", { when }) : scimWords("scim.marks.connected", { when });
    return <StatusBadge status="scim" tone="off" label={scimWords("scim.marks.label")} hint={hint} />;
  }
  const account = source.replace(/^oidc:/, "");
  return (
    <StatusBadge
      status="oidc"
      tone="off"
      label={scimWords("scim.marks.claims", { account })}
      hint={scimWords("scim.marks.claimsHelp", { account, when })}
    />
  );
}

const placesShown = 2;

function Places({ user }: { readonly user: ListedUser }) {
  if (user.administrator) return t("settings.users.allWorkspaces");
  if (user.workspaces.length === 0) return <Nothing />;
  const words = user.workspaces.map(({ slug, role }) => t("settings.users.inWorkspace", { slug, role }));
  const rest = words.slice(placesShown);
  return (
    <span>
      {words.slice(0, placesShown).join(", ")}{" "}
      {rest.length > 0 && (
        <Tooltip label={rest.join(", ")}>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the rest must be reachable by keyboard. */}
          <span tabIndex={0}>{t("settings.users.andMore", { count: rest.length })}</span>
        </Tooltip>
      )}
    </span>
  );
}

function Factors({ user }: { readonly user: ListedUser }) {
  if (!user.two_factor && user.passkeys === 0) {
    return <StatusBadge status="none" tone="warn" hint={t("settings.users.noFactorHelp")} />;
  }
  const passkeys = user.passkeys === 0 ? [] : [t("settings.passkeys", { count: user.passkeys })];
  return <span>{[...(user.two_factor ? [t("settings.users.authenticator")] : []), ...passkeys].join(", ")}</span>;
}
