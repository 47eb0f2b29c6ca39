import { Button, Group } from "@mantine/core";
import type { ConsoleAsset } from "@sluice/contract";
import { IconPlus } from "@tabler/icons-react";
import type { Rows } from "../../api/use-pages.ts";
import { Section } from "../../components/section.tsx";
import { t } from "../../language/areas/assets.ts";
import { useUrlChange } from "../../routes/search.ts";
import { AssetGrid } from "./asset-grid.tsx";
import type { AssetGroup } from "./asset-group.ts";
import { platformName } from "./platforms.ts";
import { RemoveGroup } from "./remove-group.tsx";

interface AssetsOfGroupProps {
  readonly slug: string;
  readonly assets: Rows<ConsoleAsset>;
  readonly groups: readonly AssetGroup[];
  /** The selected group; empty: all groups. */
  readonly group: string;
  readonly mayChange: boolean;
}

/** The assets of a group, with their actions. */
export function AssetsOfGroup({ slug, assets, groups, group, mayChange }: AssetsOfGroupProps) {
  const change = useUrlChange();
  const chosen = groups.find((each) => each.id === group) ?? null;
  const add = mayChange && (
    <Button leftSection={<IconPlus size={14} aria-hidden />} onClick={() => change({ create: "asset" })}>
      {t("assets.add.run")}
    </Button>
  );
  return (
    <Section
      title={chosen?.name ?? t("assets.all")}
      description={chosen === null ? t("assets.newestFirst") : aboutGroup(chosen)}
      actions={
        mayChange && (
          <Group gap="xs">
            {chosen !== null && (
              <RemoveGroup slug={slug} group={chosen} onRemoved={() => change({ group: "", asset: "" })} />
            )}
            {assets.rows?.length !== 0 && add}
          </Group>
        )
      }
    >
      <AssetGrid slug={slug} assets={assets} groups={groups} onOpen={(id) => change({ asset: id })} add={add} />
    </Section>
  );
}

function aboutGroup({ platform, description }: AssetGroup): string {
  return [platformName(platform), description].filter((each) => each !== "").join(" · ");
}
