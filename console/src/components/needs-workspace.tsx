import { Select } from "@mantine/core";
import { IconBuilding } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { t } from "../language/areas/components.ts";
import { useWorkspace } from "../session/workspace.ts";
import { useWorkspaceChoices } from "../session/workspace-choices.ts";
import { EmptyState } from "./empty-state.tsx";

interface NeedsWorkspaceProps {
  /** Why a workspace must be chosen: "Keys belong to a workspace." */
  readonly why: string;
  readonly children: (slug: string) => ReactNode;
}

/** Renders its content for one workspace, or asks to choose one. */
export function NeedsWorkspace({ why, children }: NeedsWorkspaceProps) {
  const { slug, choose, none } = useWorkspace();
  const choices = useWorkspaceChoices();
  if (slug !== null) return children(slug);
  if (none) {
    return (
      <EmptyState icon={<IconBuilding />} title={t("components.needsWorkspace.noneTitle")}>
        {t("components.needsWorkspace.noneHelp", { why })}
      </EmptyState>
    );
  }
  return (
    <EmptyState
      icon={<IconBuilding />}
      title={t("components.needsWorkspace.choose")}
      action={
        <Select
          aria-label={t("components.labels.workspace")}
          placeholder={t("components.needsWorkspace.choose")}
          searchable
          data={choices.map((each) => ({ value: each.slug, label: each.name }))}
          value={null}
          onChange={choose}
        />
      }
    >
      {why}
    </EmptyState>
  );
}
