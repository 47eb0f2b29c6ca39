import { otherMediaTypes } from "../forwarding-suite.ts";
import { moderationsEndpoint } from "./endpoint.ts";

otherMediaTypes(moderationsEndpoint);
