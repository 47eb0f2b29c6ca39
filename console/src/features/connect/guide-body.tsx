import { AnswerText } from "../playground/chat/answer-text.tsx";
import { guideTexts } from "./guide-texts.ts";
import { type GuideId, guideText } from "./guides.ts";

interface GuideBodyProps {
  readonly guide: GuideId;
  readonly baseUrl: string;
}

/** The documentation is in English in every language of the console. */
export default function GuideBody({ guide, baseUrl }: GuideBodyProps) {
  return (
    <div lang="en">
      <AnswerText text={guideText(guideTexts[guide], baseUrl)} />
    </div>
  );
}
