import { linePattern, modelSchema } from "@sluice/contract";

/** Each of these calls `hit()` if it is interpreted as markup, code or a URL. */
export const hostileStrings: readonly string[] = [
  "<script>hit()</script>",
  '"><img src=x onerror=hit()>',
  "'><svg onload=hit()>",
  "<svg><script>hit()</script></svg>",
  '<svg><a xlink:href="javascript:hit()"><text>x</text></a></svg>',
  "</title></textarea></script></style></template><img src=x onerror=hit()>",
  '<iframe srcdoc="<script>parent.hit()</script>"></iframe>',
  '<a href="javascript:hit()">x</a>',
  "[x](javascript:hit())",
  '![x](x"onerror="hit())',
  "javascript:hit()",
  "JaVaScRiPt:hit()//",
  "\u0001javascript:hit()",
  "data:text/html,<script>parent.hit()</script>",
  "{{constructor.constructor('hit()')()}}",
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text itself that is tried.
  "${hit()}",
  "<%= hit() %>",
  "<math><mtext></p><style><img src=x onerror=hit()></style>",
  '<div style="background:url(javascript:hit())" onmouseover=hit()>x',
  "<base href=//evil.invalid/>",
  '<meta http-equiv="refresh" content="0;url=javascript:hit()">',
  "<form action=javascript:hit()><button autofocus onfocus=hit()>",
  "\u202e<tpircs>)(tih<tpircs/>",
  "\uff1cscript\uff1ehit()\uff1c/script\uff1e",
  "%3Cscript%3Ehit()%3C%2Fscript%3E",
  "&lt;img src=x onerror=hit()&gt;",
  '=HYPERLINK("javascript:hit()","x")',
  "__proto__",
  "constructor",
  "<!--><img src=x onerror=hit()>-->",
  "a\u0000b<img src=x onerror=hit()>",
  `\u{1F4A5}${"ا\u0300".repeat(60)}<b onclick=hit()>`,
  "W".repeat(250),
];

/** Hostile strings that are valid names and tags: no control characters. */
export const hostileLines: readonly string[] = hostileStrings.filter((text) => linePattern.test(text));

/** Hostile strings that are valid model names. */
export const hostileNames: readonly string[] = hostileStrings
  .concat('"><img/src=x/onerror=hit()>', "<svg/onload=hit()>", "../../..//evil.invalid/", "a?b=c&d/e%2f")
  .filter((text) => text.length <= 200 && modelSchema.shape.name.safeParse(text).success);
