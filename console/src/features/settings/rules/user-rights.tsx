import { Stack, Text } from "@mantine/core";
import type { AnswerOf, ConsoleUser } from "@sluice/contract";
import { IconShield } from "@tabler/icons-react";
import { useCall } from "../../../api/use-call.ts";
import { type Column, DataTable } from "../../../components/data-table.tsx";
import { Drawer } from "../../../components/drawer.tsx";
import { EmptyState } from "../../../components/empty-state.tsx";
import { Nothing } from "../../../components/figures.tsx";
import { rowsIn } from "../../../components/rows.ts";
import { t } from "../../../language/areas/rules.ts";
import { grantWords, namesOfRules } from "./rule-draft.ts";

type Right = AnswerOf<"rights.ofUser">["data"][number];

interface UserRightsProps {
  readonly user: ConsoleUser;
  readonly onClose: () => void;
}

/** The source and rule of each permission of a user. */
export function UserRights({ user, onClose }: UserRightsProps) {
  const query = useCall("rights.ofUser", { params: { user: user.id } });
  return (
    <Drawer opened onClose={onClose} title={t("rules.held.title", { email: user.email })} size="lg">
      <Stack gap="md">
        <Text fz="sm">{t("rules.held.help")}</Text>
        <DataTable
          label={t("rules.held.list")}
          columns={columns}
          rows={rowsIn(query, ({ data }) => data)}
          rowKey={({ source, workspace, role, group }) => [source, workspace, role, group].join(" ")}
          empty={
            <EmptyState icon={<IconShield />} title={t("rules.held.none")}>
              {t("rules.held.noneHelp")}
            </EmptyState>
          }
        />
      </Stack>
    </Drawer>
  );
}

const columns: readonly Column<Right>[] = [
  { id: "right", header: t("rules.held.right"), cell: rightWords },
  { id: "source", header: t("rules.source"), cell: ({ source }) => sourceWords(source) },
  {
    id: "rules",
    header: t("rules.held.by"),
    cell: ({ rules }) => (rules === "" ? <Nothing /> : namesOfRules(rules)),
  },
];

function rightWords({ workspace, role, group }: Right): string {
  if (role === "administrator") return t("rules.administrator");
  return grantWords({ workspace: workspace ?? "", role, group });
}

function sourceWords(source: string): string {
  if (source.startsWith("oidc:")) return t("rules.held.sso", { account: source.slice("oidc:".length) });
  if (source === "scim") return t("rules.scim");
  return source === "manual" ? t("rules.held.manual") : source;
}
