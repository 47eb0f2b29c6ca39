import { workspaceRoles } from "@sluice/contract";
import { Facts } from "../../../components/facts.tsx";
import { Section } from "../../../components/section.tsx";
import { t } from "../../../language/areas/workspaces.ts";
import { roleWords } from "../role-words.ts";

export function RolesSection() {
  return (
    <Section title={t("workspaces.role.help")} description={t("workspaces.role.helpOrder")}>
      <Facts facts={workspaceRoles.map((role) => ({ name: roleWords[role].label, value: roleWords[role].may }))} />
    </Section>
  );
}
