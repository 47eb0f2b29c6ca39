import { rates } from "../passed-suite.ts";
import { rerankEndpoint } from "./endpoint.ts";

rates(rerankEndpoint);
