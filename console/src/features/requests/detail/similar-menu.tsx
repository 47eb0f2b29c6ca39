import { Button, Menu } from "@mantine/core";
import type { AttemptDetail } from "@sluice/contract";
import { IconChevronDown, IconListSearch } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { t } from "../../../language/areas/requests.ts";
import { modelOf } from "../model-words.ts";
import { outcomeWords } from "../outcome.tsx";

/** Other requests that share something with this one. */
export function SimilarMenu({ attempt }: { readonly attempt: AttemptDetail }) {
  return (
    <Menu width={260}>
      <Menu.Target>
        <Button
          variant="default"
          leftSection={<IconListSearch size={15} aria-hidden />}
          rightSection={<IconChevronDown size={14} aria-hidden />}
        >
          {t("requests.similar.title")}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {linksOf(attempt).map(({ label, search }) => (
          <Menu.Item key={label} renderRoot={(props) => <Link to="/requests" search={search} {...props} />}>
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

const range = "7d";

function linksOf({ model, requested_model: asked, key, provider, error_code: code, outcome }: AttemptDetail) {
  const name = modelOf({ model, requested_model: asked }) ?? "";
  return [
    { label: t("requests.similar.key", { name: key.name || key.id }), search: { range, key: key.id } },
    ...(name === "" ? [] : [{ label: t("requests.similar.model", { name }), search: { range, model: name } }]),
    ...(provider === "" ? [] : [{ label: t("requests.similar.provider", { provider }), search: { range, provider } }]),
    ...(code === null ? [] : [{ label: t("requests.similar.error", { code }), search: { range, error_code: code } }]),
    ...(code === null || name === ""
      ? []
      : [{ label: t("requests.similar.errorAndModel"), search: { range, error_code: code, model: name } }]),
    {
      label: t("requests.similar.keyAndOutcome", { outcome: outcomeWords[outcome] }),
      search: { range, key: key.id, outcome },
    },
  ];
}
