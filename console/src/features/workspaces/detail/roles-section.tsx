import { workspaceRoles } from "@sluice/contract";
import { Facts } from "../../../components/facts.tsx";
import { Section } from "../../../components/section.tsx";
import { roleWords } from "../role-words.ts";

export function RolesSection() {
  return (
    <Section title="What each role may do" description="Each may also do what those before it may.">
      <Facts facts={workspaceRoles.map((role) => ({ name: roleWords[role].label, value: roleWords[role].may }))} />
    </Section>
  );
}
