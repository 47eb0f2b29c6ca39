import { Group, Text } from "@mantine/core";
import type { KeyWithUsage } from "@sluice/contract";
import type { LinkProps } from "@tanstack/react-router";
import { useAct } from "../../api/use-act.ts";
import { usePages } from "../../api/use-pages.ts";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { Money, Nothing, When } from "../../components/figures.tsx";
import { Section } from "../../components/section.tsx";
import { t } from "../../language/areas/profile.ts";
import { useSession } from "../../session/session-context.tsx";
import { useWorkspace } from "../../session/workspace.ts";

const columns: readonly Column<KeyWithUsage>[] = [
  {
    id: "name",
    header: t("profile.name"),
    sortBy: (key) => key.name.toLowerCase(),
    cell: (key) => (
      <span className="key-name">
        {key.name}
        <small>
          {key.prefix}…{key.last_four}
        </small>
      </span>
    ),
  },
  {
    id: "workspace",
    header: t("profile.agents.workspace"),
    cell: ({ workspace, group }) => `${workspace.slug} / ${group.name}`,
  },
  { id: "budget", header: t("profile.usage.budgets"), cell: (key) => <Budget item={key} /> },
  { id: "expires", header: t("profile.sessions.ends"), cell: (key) => <When at={key.expires_at} missing="–" /> },
  { id: "used", header: t("profile.own.keys.lastUsed"), cell: (key) => <When at={key.last_used_at} missing="–" /> },
  { id: "do", header: t("profile.actions"), quiet: true, align: "right", cell: (key) => <Revoke item={key} /> },
];

function Budget({ item: { budget, budget_used: used } }: { readonly item: KeyWithUsage }) {
  if (budget === null) return <Nothing />;
  return (
    <>
      {used === null ? <Nothing /> : <Money usd={used} />} / <Money usd={budget.usd} />{" "}
      {t(`profile.usage.period.${budget.period}`)}
    </>
  );
}

/** The active personal keys. Agent keys are left out: they have no secret and end with their agents. */
export function OwnKeysSection() {
  const { user } = useSession();
  const { path } = useWorkspace();
  const keys = usePages("keys.list", { params: { workspace: path }, query: { owner: user.id } });
  const rows = keys.rows?.filter(({ state }) => state !== "revoked" && state !== "without_secret") ?? null;
  return (
    <Section flush title={t("profile.own.keys.title")} description={t("profile.own.keys.help")}>
      <DataTable
        label={t("profile.own.keys.title")}
        columns={columns}
        rows={{ ...keys, rows }}
        rowKey={(key) => key.id}
        dimmed={({ state }) => state !== "active"}
        rowLink={({ id, workspace }): LinkProps => ({
          to: "/keys/$key",
          params: { key: id },
          search: { workspace: workspace.slug },
        })}
        empty={
          <Text ta="center" c="dimmed" fz="sm" py="md">
            {t("profile.own.keys.empty")}
          </Text>
        }
      />
    </Section>
  );
}

function Revoke({ item }: { readonly item: KeyWithUsage }) {
  const { may } = useSession();
  const revoke = useAct("keys.revoke", {
    invalidates: ["keys.list", "keys.show", "limits.list", "session.show"],
    done: t("profile.own.keys.revoked"),
  });
  if (item.managed_by === "file" || !may("member", item.workspace.slug)) return null;
  return (
    <Group justify="flex-end">
      <ConfirmButton
        size="compact-xs"
        title={t("profile.own.keys.revokeTitle", { name: item.name })}
        verb={t("profile.own.keys.revoke")}
        color="red"
        onConfirm={() => revoke.mutateAsync({ params: { workspace: item.workspace.slug, key: item.id } })}
      >
        {t("profile.own.keys.revokeHelp")}
      </ConfirmButton>
    </Group>
  );
}
