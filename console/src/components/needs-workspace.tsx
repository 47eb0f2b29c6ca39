import { Select } from "@mantine/core";
import { IconBuilding } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { t } from "../language/areas/components.ts";
import { useOneWorkspace, useWorkspace } from "../session/workspace.ts";
import { useWorkspaceChoices } from "../session/workspace-choices.ts";
import { EmptyState } from "./empty-state.tsx";

interface NeedsWorkspaceProps {
  /** Why a workspace must be chosen: "Keys belong to a workspace." */
  readonly why: string;
  readonly children: (slug: string) => ReactNode;
}

/** Renders its content for one workspace. While all workspaces are chosen, a select above the content shows which one it is. */
export function NeedsWorkspace({ why, children }: NeedsWorkspaceProps) {
  const { slug: chosen, choose, none } = useWorkspace();
  const slug = useOneWorkspace();
  if (none) {
    return (
      <EmptyState icon={<IconBuilding />} title={t("components.needsWorkspace.noneTitle")}>
        {t("components.needsWorkspace.noneHelp", { why })}
      </EmptyState>
    );
  }
  if (slug === null) {
    return (
      <EmptyState
        icon={<IconBuilding />}
        title={t("components.needsWorkspace.choose")}
        action={<WorkspaceSelect value={null} onChange={choose} />}
      >
        {why}
      </EmptyState>
    );
  }
  return (
    <>
      {chosen === null && <WorkspaceSelect value={slug} onChange={choose} />}
      {children(slug)}
    </>
  );
}

interface WorkspaceSelectProps {
  readonly value: string | null;
  readonly onChange: (slug: string | null) => void;
}

function WorkspaceSelect({ value, onChange }: WorkspaceSelectProps) {
  const choices = useWorkspaceChoices();
  return (
    <Select
      aria-label={t("components.labels.workspace")}
      placeholder={t("components.needsWorkspace.choose")}
      leftSection={<IconBuilding size={15} aria-hidden />}
      searchable
      allowDeselect={false}
      maw={320}
      data={choices.map((each) => ({ value: each.slug, label: each.name }))}
      value={value}
      onChange={onChange}
    />
  );
}
