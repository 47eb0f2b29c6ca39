import { Button, Group } from "@mantine/core";
import { IconFolderPlus, IconLibraryPhoto, IconPlus } from "@tabler/icons-react";
import { useEffect, useState } from "react";
import { usePages } from "../../api/use-pages.ts";
import { EmptyState } from "../../components/empty-state.tsx";
import { ProblemAlert } from "../../components/problem-alert.tsx";
import { Section } from "../../components/section.tsx";
import { t } from "../../language/areas/assets.ts";
import { useUrlChange, useUrlSearch } from "../../routes/search.ts";
import { useSession } from "../../session/session-context.tsx";
import { AddAsset } from "./add-asset.tsx";
import { AssetDrawer } from "./asset-drawer.tsx";
import { AssetGrid } from "./asset-grid.tsx";
import { GroupList } from "./group-list.tsx";
import { MakeGroup } from "./make-group.tsx";
import { platformName } from "./platforms.ts";
import { RemoveGroup } from "./remove-group.tsx";

const liveMs = 2_500;
const quietMs = 30_000;

/** Groups on the left, what is in them on the right. */
export function AssetLibrary({ slug }: { readonly slug: string }) {
  const { may } = useSession();
  const search = useUrlSearch();
  const change = useUrlChange();
  const [live, setLive] = useState(false);
  const params = { workspace: slug };
  const groups = usePages("assetGroups.list", { params, query: { limit: 200 } });
  const group = search["group"] ?? "";
  const assets = usePages("assets.list", {
    params,
    query: { limit: 60, ...(group === "" ? {} : { group }) },
    everyMs: live ? liveMs : quietMs,
  });
  const working = assets.rows?.some((asset) => asset.status === "Processing") === true;
  useEffect(() => setLive(working), [working]);
  const chosen = groups.rows?.find((each) => each.id === group) ?? null;
  const mayChange = may("member", slug);
  const dialog = search["create"] ?? "";
  const close = () => change({ create: "" });
  const makeGroup = (
    <Button
      variant={groups.rows?.length === 0 ? "filled" : "default"}
      leftSection={<IconFolderPlus size={14} aria-hidden />}
      onClick={() => change({ create: "group" })}
    >
      {t("assets.groups.create")}
    </Button>
  );
  const addAsset = (
    <Button leftSection={<IconPlus size={14} aria-hidden />} onClick={() => change({ create: "asset" })}>
      {t("assets.add.run")}
    </Button>
  );

  return (
    <>
      {groups.rows !== null && groups.rows.length === 0 ? (
        <div className="table-empty">
          <EmptyState icon={<IconLibraryPhoto />} title={t("assets.empty.noGroups")} action={mayChange && makeGroup}>
            {t("assets.empty.noGroupsHelp")}
          </EmptyState>
        </div>
      ) : (
        <div className="assets-grid">
          <Section title={t("assets.groups.title")} actions={mayChange && makeGroup} flush>
            {groups.problem !== null && groups.rows === null ? (
              <ProblemAlert problem={groups.problem} onRetry={groups.reload} />
            ) : (
              <GroupList groups={groups} chosen={group} onChoose={(id) => change({ group: id, asset: "" })} />
            )}
          </Section>
          <Section
            title={chosen?.name ?? t("assets.all")}
            description={
              chosen === null
                ? t("assets.newestFirst")
                : [platformName(chosen.platform), chosen.description].filter((each) => each !== "").join(". ")
            }
            actions={
              mayChange && (
                <Group gap="xs">
                  {chosen !== null && (
                    <RemoveGroup slug={slug} group={chosen} onRemoved={() => change({ group: "", asset: "" })} />
                  )}
                  {assets.rows?.length !== 0 && addAsset}
                </Group>
              )
            }
          >
            <AssetGrid
              slug={slug}
              assets={assets}
              groups={groups.rows ?? []}
              onOpen={(id) => change({ asset: id })}
              add={mayChange && addAsset}
            />
          </Section>
        </div>
      )}
      <AssetDrawer
        slug={slug}
        asset={assets.rows?.find((each) => each.id === search["asset"]) ?? null}
        group={groups.rows?.find(({ id }) => id === assets.rows?.find((each) => each.id === search["asset"])?.group_id)}
        onClose={() => change({ asset: "" })}
      />
      {mayChange && (
        <>
          <MakeGroup
            slug={slug}
            opened={dialog === "group"}
            onClose={close}
            onMade={(id) => change({ create: "", group: id })}
          />
          <AddAsset
            slug={slug}
            groups={groups.rows ?? []}
            group={group}
            opened={dialog === "asset"}
            onClose={close}
            onAdded={(groupId) => change({ create: "", ...(group === "" ? {} : { group: groupId }) })}
          />
        </>
      )}
    </>
  );
}
