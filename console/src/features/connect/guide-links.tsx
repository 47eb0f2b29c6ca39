import { Anchor, Group } from "@mantine/core";
import { t } from "../../language/areas/connect.ts";
import { type GuideId, guidesOf, guideTitles } from "./guides.ts";

interface GuideLinksProps {
  readonly snippet: string;
  readonly onOpen: (guide: GuideId) => void;
}

/** Links from a snippet to the documentation of its program. */
export function GuideLinks({ snippet, onOpen }: GuideLinksProps) {
  if (snippet === "curl") {
    return (
      <Anchor href="/docs" target="_blank" rel="noreferrer" fz="sm" underline="always">
        {t("connect.reference")}
      </Anchor>
    );
  }
  return (
    <Group gap="md">
      {guidesOf(snippet).map((guide) => (
        <Anchor key={guide} component="button" type="button" fz="sm" underline="always" onClick={() => onOpen(guide)}>
          {t("connect.guide", { program: guideTitles[guide] })}
        </Anchor>
      ))}
    </Group>
  );
}
