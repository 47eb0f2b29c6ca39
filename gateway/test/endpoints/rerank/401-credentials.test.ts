import { credentials } from "../passed-suite.ts";
import { rerankEndpoint } from "./endpoint.ts";

credentials(rerankEndpoint);
