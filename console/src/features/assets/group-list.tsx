import { Skeleton, UnstyledButton } from "@mantine/core";
import type { Rows } from "../../api/use-pages.ts";
import { LoadMore } from "../../components/load-more.tsx";
import { t } from "../../language/areas/assets.ts";
import type { AssetGroup } from "./asset-group.ts";
import { platformName } from "./platforms.ts";

interface GroupListProps {
  readonly groups: Rows<AssetGroup>;
  /** Empty: all groups. */
  readonly chosen: string;
  readonly onChoose: (id: string) => void;
}

export function GroupList({ groups, chosen, onChoose }: GroupListProps) {
  if (groups.rows === null) return <Skeleton height={120} mx="md" mb="md" w="auto" />;
  return (
    <ul className="group-list" aria-label={t("assets.groups.label")}>
      <li>
        <UnstyledButton className="group-choice" aria-current={chosen === ""} onClick={() => onChoose("")}>
          <span>{t("assets.all")}</span>
        </UnstyledButton>
      </li>
      {groups.rows.map((group) => (
        <li key={group.id}>
          <UnstyledButton
            className="group-choice"
            aria-current={chosen === group.id}
            onClick={() => onChoose(group.id)}
          >
            <span className="break">{group.name}</span>
            <span>{platformName(group.platform)}</span>
          </UnstyledButton>
        </li>
      ))}
      {groups.more !== null && (
        <li>
          <LoadMore rows={groups} />
        </li>
      )}
    </ul>
  );
}
