import { badRequests } from "../passed-suite.ts";
import { rerankEndpoint } from "./endpoint.ts";

badRequests(rerankEndpoint);
