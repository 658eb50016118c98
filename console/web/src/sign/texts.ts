// All texts of the sign.
export const kLanguages = ["en", "zh"] as const;
export type Language = (typeof kLanguages)[number];
export const kTag: Record<Language, string> = { en: "en", zh: "zh-Hans" };

export const kTexts = {
  title: { en: "Progressive Jackpot", zh: "累积大奖" },
  connecting: { en: "One moment", zh: "请稍候" },
  confirming: { en: "A jackpot is being confirmed", zh: "大奖正在确认中" },
  held: { en: "A jackpot is held for a ruling", zh: "大奖待裁定" },
  closed: { en: "The jackpot is closed at present", zh: "大奖暂停投注" },
  outdated: { en: "The amount may be out of date", zh: "金额可能不是最新" },
  lost: { en: "The amount is not available at present", zh: "暂时无法显示金额" },
  corrected: { en: "The amount has been corrected", zh: "金额已更正" },
  won: { en: "Jackpot won!", zh: "恭喜！大奖诞生" },
  table: { en: "Table", zh: "牌桌" },
  now: { en: "Jackpot now", zh: "现时大奖" },
  last: { en: "Last won", zh: "上次大奖" },
  unknown: { en: "There is no such pool", zh: "没有此奖池" },
  unknownHint: {
    en: "The end of this page’s address names the pool, as the configuration does.",
    zh: "本页网址末尾应为配置中的奖池名称。",
  },
} as const;
export type TextId = keyof typeof kTexts;
